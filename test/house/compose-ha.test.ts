import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { isInstalled } from '../docs/is-installed.ts';
import { type Compose, readCompose, type Service } from './read-compose.ts';

const root = new URL('../../', import.meta.url);
/** The password's placeholder contains characters that are not allowed in a URL. */
const urlOf = ({ environment }: Service = {}) =>
  new URL((environment?.DATABASE_URL ?? '').replace(/\$\{\w+:\?\}/, 'password'));

describe('docker-compose.ha.yml', () => {
  let text: string;
  let compose: Compose;
  let base: Compose;

  before(async () => {
    text = await readFile(new URL('docker-compose.ha.yml', root), 'utf8');
    compose = await readCompose('docker-compose.ha.yml');
    base = await readCompose('docker-compose.yml');
  });

  const databases = () => Object.entries(compose.services).filter(([name]) => name.startsWith('database-'));
  const patroni = () => parse(compose.configs.patroni?.content ?? '', { strict: true });

  it('needs the variables of docker-compose.yml and one more, which its head names', () => {
    const needed = new Set(text.match(/(?<!\$)(?<=\$\{)\w+/g));
    const passwords = ['DATABASE_PASSWORD', 'REPLICATION_PASSWORD', 'SUPERUSER_PASSWORD'];
    assert.deepEqual([...needed].sort(), ['BACKUP_PASSPHRASE', ...passwords]);
    assert(text.split('\n\n')[0]?.includes('REPLICATION_PASSWORD'));
  });

  it('points the address of docker-compose.yml to HAProxy', () => {
    for (const name of ['core', 'worker', 'migrate']) assert.equal(urlOf(base.services[name]).host, 'postgres:5432');
    assert.match(compose.services.postgres?.image ?? '', /^haproxy:/);
    assert.match(compose.configs.haproxy?.content ?? '', /^ {2}bind \*:5432$/m);
  });

  it('names only services, configurations and volumes that exist', () => {
    for (const { configs = [], depends_on = [], volumes = [] } of Object.values(compose.services)) {
      for (const { source } of configs) assert(Object.hasOwn(compose.configs, source), source);
      for (const name of depends_on) assert(Object.hasOwn(compose.services, name), name);
      for (const volume of volumes.filter((each) => !each.startsWith('./')))
        assert(Object.hasOwn(compose.volumes, volume.split(':')[0] as string), volume);
    }
  });

  it('makes HAProxy ask both databases for the primary, and end the sessions of one that is down', () => {
    const { content = '' } = compose.configs.haproxy ?? {};
    assert.match(content, /on-marked-down shutdown-sessions/);
    assert.match(content, /http-check send meth OPTIONS uri \/primary\n\s+http-check expect status 200/);
    const servers = [...content.matchAll(/^\s+server (\S+) (\S+):5432 check port 8008$/gm)].map(([, name]) => name);
    assert.deepEqual(servers, ['database-1', 'database-2']);
    assert.deepEqual(
      databases().map(([name]) => name),
      servers,
    );
  });

  it('runs a Patroni whose leader cannot overwrite the key of its successor', () => {
    for (const [name, { build, environment }] of databases()) {
      const [, major, minor, patch] =
        /patroni\[etcd3\]==(\d+)\.(\d+)\.(\d+)'/.exec(build?.dockerfile_inline ?? '') ?? [];
      assert(Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch) >= 3_000_003, '3.0.3 or later');
      assert.equal(environment?.PATRONI_NAME, name);
      assert.equal(environment?.PATRONI_RESTAPI_CONNECT_ADDRESS, `${name}:8008`);
      assert.equal(environment?.PATRONI_POSTGRESQL_CONNECT_ADDRESS, `${name}:5432`);
    }
  });

  it('replicates synchronously, with timeouts that Patroni accepts', () => {
    const { dcs } = patroni().bootstrap;
    assert.equal(dcs.synchronous_mode, true);
    assert(dcs.ttl >= dcs.loop_wait + 2 * dcs.retry_timeout);
    assert.equal(patroni().postgresql.parameters?.synchronous_commit ?? 'on', 'on');
  });

  it('has three etcd members that know each other, and Patroni knows all of them', () => {
    const etcds = Object.entries(compose.services).filter(([name]) => name.startsWith('etcd-'));
    assert.equal(etcds.length, 3);
    const cluster = etcds.map(([name]) => `${name}=https://${name}:2380`).join(',');
    for (const [name, { environment = {} }] of etcds) {
      assert.equal(environment.ETCD_NAME, name);
      assert.equal(environment.ETCD_INITIAL_CLUSTER, cluster);
      assert.equal(environment.ETCD_INITIAL_ADVERTISE_PEER_URLS, `https://${name}:2380`);
      assert.equal(environment.ETCD_ADVERTISE_CLIENT_URLS, `https://${name}:2379`);
      assert.equal(environment.ETCD_AUTO_COMPACTION_MODE, 'periodic');
    }
    assert.deepEqual(
      patroni().etcd3.hosts,
      etcds.map(([name]) => `${name}:2379`),
    );
  });

  it('lets nobody without a certificate change etcd or Patroni, and nobody without TLS into PostgreSQL', () => {
    for (const [name, { environment = {} }] of Object.entries(compose.services)) {
      if (!name.startsWith('etcd-')) continue;
      assert.equal(environment.ETCD_CLIENT_CERT_AUTH, 'true', name);
      assert.equal(environment.ETCD_PEER_CLIENT_CERT_AUTH, 'true', name);
    }
    const { restapi, postgresql } = patroni();
    assert.equal(restapi.verify_client, 'optional');
    assert(restapi.cafile && restapi.certfile && restapi.keyfile);
    for (const rule of postgresql.pg_hba) assert.match(rule, /^(local|hostssl) /);
    for (const name of ['migrate', 'core', 'worker'])
      assert.equal(urlOf(compose.services[name]).searchParams.get('sslmode'), 'verify-full', name);
  });

  it('starts everything again after a restart of the machine, and has two HAProxies', () => {
    const isOwn = ([name]: [string, Service]) => /^(etcd|database|takeover|backup)-/.test(name);
    const own = Object.entries(compose.services).filter(isOwn);
    for (const [name, { restart }] of [...own, ['postgres', base.services.postgres ?? {}] as const])
      assert.equal(restart, 'unless-stopped', name);
    assert.equal(compose.services.postgres?.deploy?.replicas, 2);
  });

  it('names a version of each image and Python package', () => {
    for (const [name, { image = '' }] of Object.entries(compose.services))
      if (image !== '' && !image.startsWith('holdfast')) assert.match(image, /:v?\d+\.\d+/, name);
    const { dockerfile_inline = '' } = compose.services['database-1']?.build ?? {};
    const packages = [...dockerfile_inline.matchAll(/ '([^']+)'/g)].map(([, name]) => name);
    assert.equal(packages.length, 2);
    for (const name of packages) assert.match(name ?? '', /==\d+\.\d+\.\d+$/);
  });

  it('archives the log, resets a primary that hangs, and goes on without etcd', () => {
    const { bootstrap, postgresql, watchdog } = patroni();
    assert.equal(bootstrap.dcs.failsafe_mode, true);
    assert.equal(watchdog.mode, 'automatic');
    assert.deepEqual(postgresql.basebackup, [{ checkpoint: 'fast' }]);
    const { archive_mode, archive_command } = postgresql.parameters;
    assert.deepEqual([archive_mode, archive_command], ['on', 'pgbackrest archive-push "%p"']);
  });

  it('backs up beside each database, into a repository that both reach', () => {
    const { bin_dir, data_dir, parameters } = patroni().postgresql;
    for (const [name, database] of databases()) {
      const backup = compose.services[name.replace('database', 'backup')];
      assert.equal(backup?.image, database.image);
      for (const { environment = {} } of [database, backup ?? {}]) {
        assert.equal(environment.PGBACKREST_PG1_PATH, data_dir);
        assert.equal(environment.PGBACKREST_REPO1_PATH, '/backups');
      }
      const [, ...shared] = backup?.volumes ?? [];
      for (const volume of shared) assert(database.volumes?.includes(volume), volume);
      assert.equal(backup?.volumes?.[0], `${database.volumes?.[0]}:ro`);
      assert(shared.includes('backups:/backups'));
      assert(shared.some((volume) => volume.endsWith(`:${parameters.unix_socket_directories}`)));
    }
    assert.match(bin_dir, /\/18\//);
    assert.deepEqual(compose.services.backup, {}, 'the one of docker-compose.yml is gone');
  });

  it('has a takeover beside each database, which knows its name', () => {
    for (const [name, { environment }] of databases()) {
      const takeover = compose.services[name.replace('database', 'takeover')];
      assert.equal(takeover?.environment?.PATRONI_NAME, environment?.PATRONI_NAME);
      assert(
        takeover?.configs?.some(({ source, target }) => source === 'takeover' && takeover.command?.includes(target)),
      );
    }
  });

  describe('is accepted by', () => {
    let folder: string;
    before(async () => {
      folder = await mkdtemp(`${tmpdir()}/holdfast-compose-`);
    });
    after(() => rm(folder, { recursive: true }));

    /** Writes one of the configurations to a file, as Compose does. */
    async function fileOf(name: string, change = (content: string) => content): Promise<string> {
      const { content = '' } = compose.configs[name] ?? {};
      await writeFile(`${folder}/${name}`, change(content.replaceAll('$$', '$')));
      return `${folder}/${name}`;
    }
    function run(program: string, args: readonly string[], environment = {}) {
      const { status, stdout, stderr } = spawnSync(program, args, { env: { ...process.env, ...environment } });
      return { status, output: `${stdout}${stderr}` };
    }

    it('yamllint', function () {
      if (!isInstalled('yamllint')) this.skip();
      const rules = '{ line-length: { max: 160 }, document-start: disable, braces: { max-spaces-inside: 1 } }';
      const files = ['docker-compose.ha.yml', 'docker-compose.yml'].map((file) => fileURLToPath(new URL(file, root)));
      const { status, output } = run('yamllint', ['--strict', '-d', `{ extends: default, rules: ${rules} }`, ...files]);
      assert.equal(status, 0, output);
    });

    it('HAProxy', async function () {
      if (!isInstalled('haproxy')) this.skip();
      const anyAuthority = '/etc/ssl/certs/ca-certificates.crt';
      const file = await fileOf('haproxy', (content) => content.replaceAll('/certificates/ca.pem', anyAuthority));
      const { status, output } = run('haproxy', ['-c', '-f', file]);
      assert.equal(status, 0, output);
    });

    it('Python', async function () {
      if (!isInstalled('python3')) this.skip();
      const { status, output } = run('python3', ['-m', 'py_compile', await fileOf('takeover')]);
      assert.equal(status, 0, output);
    });

    it('Patroni', async function () {
      const [, minor] =
        /^patroni (\d+\.\d+)/.exec(isInstalled('patroni') ? run('patroni', ['--version']).output : '') ?? [];
      // Older ones want settings that are optional since.
      if (Number(minor ?? 0) < 4) this.skip();
      const [version] = readdirSync('/usr/lib/postgresql');
      const file = await fileOf('patroni', (content) => content.replace('/postgresql/18/', `/postgresql/${version}/`));
      const secrets = { PATRONI_SUPERUSER_PASSWORD: 'secret', PATRONI_REPLICATION_PASSWORD: 'secret' };
      const environment = { ...databases()[0]?.[1].environment, ...secrets };
      const { output } = run('patroni', ['--validate-config', file], environment);
      const faults = output.split('\n').filter((line) => line !== '' && !OF_THIS_MACHINE.test(line));
      assert.deepEqual(faults, []);
    });
  });

  it('creates the database that the service connects to', () => {
    const { content = '' } = compose.configs['create-database'] ?? {};
    const { username, pathname } = urlOf(base.services.core);
    assert(
      content.includes(`create role ${username} login`) &&
        content.includes(`create database ${pathname.slice(1)} owner`),
    );
    assert.equal(patroni().bootstrap.post_bootstrap, '/etc/create-database.sh');
  });
});

/** It also looks whether etcd is reachable, and the port free. */
const OF_THIS_MACHINE = /^(etcd3\.hosts\.\d \S+ didn't pass validation|postgresql\.listen .* already in use)/;
