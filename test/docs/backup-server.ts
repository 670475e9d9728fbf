/** A PostgreSQL with the programs that docs/backup.md uses. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { choosePostgresHome } from '../../services/quickstart/postgres-home.ts';
import { freePort } from '../free-port.ts';

export const run = promisify(execFile);
const NEEDED = ['pg_basebackup', 'pg_verifybackup', 'pg_archivecleanup', 'pg_ctl', 'initdb', 'psql'];
/** Where Debian installs them, by version. */
const FOLDERS = ['18', '17', '16', '15'].map((version) => `/usr/lib/postgresql/${version}/bin`);

/** The folder with the programs; undefined = there is none. */
export const programs = FOLDERS.find((folder) => NEEDED.every((program) => existsSync(`${folder}/${program}`)));

export type BackupServer = Awaited<ReturnType<typeof startBackupServer>>;

/** Starts a server in a folder of its own; `configure` returns more environment, and the lines of postgresql.conf. */
export async function startBackupServer(
  configure: (root: string, port: string) => { environment: Record<string, string>; archive: string },
) {
  // PostgreSQL refuses root: then the user of the embedded server runs everything.
  const home = await choosePostgresHome(await mkdtemp(`${tmpdir()}/holdfast-backup-`));
  const { root } = home;
  const { uid, gid } = home.process;
  const port = String(await freePort());
  const { environment, archive } = configure(root, port);
  const names = { PGHOST: root, PGPORT: port, PGUSER: 'postgres', BACKUPS: `${root}/backups` };
  const places = { PGDATA: `${root}/data`, RESTORED: `${root}/restored`, PATH: `${programs}:/usr/bin:/bin` };
  const env = { ...names, ...places, LC_ALL: 'C', TZ: 'UTC', ...environment };
  const options = { cwd: root, env, timeout: 60_000, ...(uid !== undefined && { uid, gid }) };
  const bash = async (script: string) => (await run('bash', ['-euo', 'pipefail', '-c', script], options)).stdout;
  await mkdir(`${root}/backups/wal`, { recursive: true });
  if (uid !== undefined && gid !== undefined)
    for (const folder of ['', '/backups', '/backups/wal']) await chown(root + folder, uid, gid);
  const control = (data: string, ...words: string[]) =>
    bash(`pg_ctl --pgdata "${root}/${data}" --log "${root}/server.log" --wait ${words.join(' ')}`);
  const sql = async (text: string) =>
    (await bash(`psql --no-psqlrc --quiet --tuples-only --no-align --command "${text}" postgres`)).trim();
  await bash(`initdb --pgdata data --username postgres --auth trust --encoding UTF8 --locale C --no-sync`);
  const local = `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${root}'\n`;
  await appendFile(`${root}/data/postgresql.conf`, `${archive}${local}`);
  await control('data', 'start');
  return {
    root,
    /** Of a database there. */
    urlOf: (database: string) => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    /** Runs commands as the server's user, in its environment. */
    bash,
    sql,
    stop: () => control('data', 'stop', '--mode immediate'),
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
