/** The files of docker-compose.ha.yml in a folder of this machine. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { namedCode } from '../../docs/code-blocks.ts';
import { readCompose } from '../../house/read-compose.ts';

export type Files = Awaited<ReturnType<typeof writeFiles>>;

/** Makes certificates as the document says, and writes all configurations, with other paths and passwords. */
export async function writeFiles() {
  const { services, configs } = await readCompose('docker-compose.ha.yml');
  const directory = await mkdtemp(`${tmpdir()}/holdfast-patroni-`);
  chmodSync(directory, 0o755);
  const certificates = namedCode('high-availability.md')('certificates');
  execFileSync('bash', ['-euo', 'pipefail', '-c', certificates], { cwd: directory, stdio: 'ignore' });
  const secret = () => randomBytes(24).toString('base64url');
  const passwords: Record<string, string> = {
    DATABASE_PASSWORD: secret(),
    SUPERUSER_PASSWORD: secret(),
    REPLICATION_PASSWORD: secret(),
    BACKUP_PASSPHRASE: secret(),
  };
  const version = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))[0];
  /** A file or the value of a variable, as the service has it here. */
  const here = (value: string, service = '') =>
    value
      .replace(/\$\{(\w+):\?\}/g, (_, variable: string) => passwords[variable] ?? assert.fail(variable))
      .replaceAll('$$', '$')
      .replace(/\/usr\/lib\/postgresql\/\d+\//g, `/usr/lib/postgresql/${version}/`)
      .replace(/(?<![\w.-])\/(certificates)\b/g, `${directory}/$1`)
      .replace(/(?<![\w.-])\/(patroni|data)(?=\/|$)/g, `${directory}/${service}`)
      .replaceAll('/etc/create-database.sh', `${directory}/create-database.sh`);
  const configOf = (name: string, service?: string) => here(configs[name]?.content ?? assert.fail(name), service);
  const write = (name: string, text: string, mode = 0o644) => writeFileSync(`${directory}/${name}`, text, { mode });
  const names = (prefix: string) => Object.keys(services).filter((name) => name.startsWith(prefix));
  const [etcds, databases] = [names('etcd-'), names('database-')];
  for (const name of [...etcds, ...databases]) mkdirSync(`${directory}/${name}`, { mode: 0o700 });
  for (const name of databases) {
    // The machines share one file system, and make no backups.
    const here = configOf('patroni', name)
      .replace('/var/run/postgresql', `${directory}/${name}`)
      .replace(/(?<=archive_command: ).*/, '/bin/true');
    write(`${name}.yml`, here);
  }
  write('takeover.py', configOf('takeover'));
  write('create-database.sh', configOf('create-database'), 0o755);
  execFileSync('chown', ['-R', 'postgres:postgres', directory]);
  return {
    directory,
    etcds,
    databases,
    write,
    superuserPassword: passwords.SUPERUSER_PASSWORD ?? '',
    databaseUrl: here(services.core?.environment?.DATABASE_URL ?? ''),
    environmentOf: (service: string): Record<string, string> => {
      const { environment = {} } = services[service] ?? {};
      const own = Object.entries(environment).map(([name, value]) => [name, here(value, service)]);
      return { ...Object.fromEntries(own), HOME: `${directory}/${service}` };
    },
    /** There is no DNS server: names are in /etc/hosts. */
    balancerConfig: (port: number, readyPort: number) =>
      configOf('haproxy')
        .replace(/^resolvers .*\n(?: +\S.*\n)+?(?=listen)/m, '')
        .replace(/ resolvers docker/g, '')
        .replace('bind *:5432', `bind 127.0.0.1:${port}`)
        .replace('127.0.0.1:8404', `127.0.0.1:${readyPort}`),
  };
}
