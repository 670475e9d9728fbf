/** A PostgreSQL with the programs that docs/backup.md uses. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { ROOT } from '../../../.ci/sources.ts';
import { freePort } from '../../../services/quickstart/ports.ts';
import { choosePostgresHome } from '../../../services/quickstart/postgres-home.ts';
import { namedCode } from '../../docs/code-blocks.ts';

export const run = promisify(execFile);
const NEEDED = ['pg_ctl', 'initdb', 'psql'];
/** Where Debian installs them, by version. */
const FOLDERS = ['18', '17', '16', '15'].map((version) => `/usr/lib/postgresql/${version}/bin`);

/** The folder with the server's programs; undefined = there is none. */
const programs = FOLDERS.find((folder) => NEEDED.every((program) => existsSync(`${folder}/${program}`)));

/** Whether this machine has all that the document needs. Debian 12's pgBackRest knows PostgreSQL 15 and older. */
export const canBackUp = programs !== undefined && existsSync('/usr/bin/pgbackrest');

export type BackupServer = Awaited<ReturnType<typeof startBackupServer>>;

const code = namedCode('backup.md');

/** Starts a server in a folder of its own, set up as the document says. */
export async function startBackupServer() {
  // PostgreSQL refuses root: then the user of the embedded server runs everything.
  const home = await choosePostgresHome(await mkdtemp(`${tmpdir()}/holdfast-backup-`));
  const { root } = home;
  const { uid, gid } = home.process;
  const port = String(await freePort());
  const inRoot = ['LOG', 'LOCK', 'PG1_SOCKET', 'SPOOL'].map((name) => [`PGBACKREST_${name}_PATH`, root]);
  const local = {
    PGBACKREST_CONFIG: `${root}/pgbackrest.conf`,
    PGBACKREST_PG1_PORT: port,
    PGBACKREST_PG1_USER: 'postgres',
  };
  const names = { PGHOST: root, PGPORT: port, PGUSER: 'postgres', BACKUPS: `${root}/backups` };
  const places = { PGDATA: `${root}/data`, RESTORED: `${root}/restored`, PATH: `${programs}:/usr/bin:/bin` };
  const pgBackRest = { ...Object.fromEntries(inRoot), ...local, PASSPHRASE: 'only for this test' };
  const env = { ...names, ...places, LC_ALL: 'C', TZ: 'UTC', ...pgBackRest };
  const options = { cwd: root, env, timeout: 300_000, ...(uid !== undefined && { uid, gid }) };
  const bash = async (script: string) => (await run('bash', ['-euo', 'pipefail', '-c', script], options)).stdout;
  await mkdir(`${root}/backups`, { recursive: true });
  if (uid !== undefined && gid !== undefined)
    for (const folder of ['', '/backups']) await chown(root + folder, uid, gid);
  const control = (data: string, ...words: string[]) =>
    bash(`pg_ctl --pgdata "${root}/${data}" --log "${root}/server.log" --wait ${words.join(' ')}`);
  const sql = async (text: string) =>
    (await bash(`psql --no-psqlrc --quiet --tuples-only --no-align --command "${text}" postgres`)).trim();
  await bash(`initdb --pgdata data --username postgres --auth trust --encoding UTF8 --locale C --no-sync`);
  await bash(`cat > pgbackrest.conf <<END\n${code('pgbackrest')}END`);
  const address = `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${root}'\nfsync = off\n`;
  await appendFile(`${root}/data/postgresql.conf`, `${code('archive')}${address}`);
  await control('data', 'start');
  /** The command of the document that runs backup.sh. */
  const script = (settings = '') => `${settings} ${code('backup').trim().replace('services/', `${ROOT}services/`)}`;
  return {
    root,
    /** Of a database there. */
    urlOf: (database: string) => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    /** Runs commands as the server's user, in its environment. */
    bash,
    sql,
    start: () => control('data', 'start'),
    stop: () => control('data', 'stop', '--mode immediate'),
    /** The archive_command of the document. */
    push: /^archive_command = '(.+)'$/m.exec(code('archive'))?.[1] ?? '',
    archiveBy: (command: string) =>
      bash(`psql -q postgres <<'END'
        alter system set archive_command = '${command}';
        select pg_reload_conf() \\g /dev/null
END`),
    script,
    /** Runs backup.sh; `now` is the time it goes by, such as '2 days'. Returns what it says. */
    backUp: (now = 'now', settings = '') => bash(`${script(`BACKUP_NOW='${now}' ${settings}`)} 2>&1`),
    async untilPromoted() {
      while ((await sql('select pg_is_in_recovery()')) === 't') await sql('select pg_sleep(0.05)');
    },
    async close() {
      for (const data of ['data', 'restored'])
        if (existsSync(`${root}/${data}/postmaster.pid`)) await control(data, 'stop', '--mode immediate');
      await rm(root, { recursive: true });
    },
  };
}
