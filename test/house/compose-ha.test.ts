import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

interface Service {
  readonly restart?: string;
  readonly command?: string;
  readonly image?: string;
  readonly build?: { readonly dockerfile_inline: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const root = new URL('../../', import.meta.url);
/** The password's placeholder contains characters that are not allowed in a URL. */
const urlOf = ({ environment }: Service = {}) =>
  new URL((environment?.DATABASE_URL ?? '').replace(/\$\{\w+:\?\}/, 'password'));
const read = (file: string) => readFile(new URL(file, root), 'utf8');
/** `!reset` removes what the other file sets, `!override` replaces it. */
const customTags = [
  { tag: '!reset', collection: 'map' as const },
  { tag: '!override', collection: 'seq' as const },
];

describe('docker-compose.ha.yml', () => {
  let text: string;
  let compose: Compose;
  let base: Compose;

  before(async () => {
    text = await read('docker-compose.ha.yml');
    compose = parse(text, { merge: true, strict: true, customTags });
    base = parse(await read('docker-compose.yml'), { merge: true, strict: true });
  });

  const databases = () => Object.entries(compose.services).filter(([, { image }]) => image === 'holdfast-patroni');
  const patroni = () => parse(compose.configs.patroni?.content ?? '', { strict: true });

  it('needs the variables of docker-compose.yml and one more, which its head names', () => {
    const needed = new Set(text.match(/(?<!\$)(?<=\$\{)\w+/g));
    assert.deepEqual([...needed].sort(), ['DATABASE_PASSWORD', 'REPLICATION_PASSWORD', 'SUPERUSER_PASSWORD']);
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

  it('starts everything again after a restart of the machine', () => {
    for (const [name, { restart }] of Object.entries(compose.services).filter(([name]) =>
      /^(etcd|database)-/.test(name),
    ))
      assert.equal(restart, 'unless-stopped', name);
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
