/** Runs the commands of docs/backup.md on a PostgreSQL that has the programs they use; skipped where there is none. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { freePort } from '../../services/quickstart/ports.ts';
import { choosePostgresHome } from '../../services/quickstart/postgres-home.ts';
import { namedCode } from './code-blocks.ts';

const NEEDED = ['pg_basebackup', 'pg_verifybackup', 'pg_archivecleanup', 'pg_ctl', 'initdb', 'psql'];
/** Where Debian installs them, by version. */
const FOLDERS = ['18', '17', '16', '15'].map((version) => `/usr/lib/postgresql/${version}/bin`);
const programs = FOLDERS.find((folder) => NEEDED.every((program) => existsSync(`${folder}/${program}`)));

describe('the commands of docs/backup.md', function () {
  this.timeout(120_000);
  const code = namedCode('backup.md');
  let root: string;
  let bash: (script: string) => Promise<string>;
  const server = (data: string, ...options: string[]) =>
    bash(`pg_ctl --pgdata "${data}" --log "${root}/server.log" --wait ${options.join(' ')}`);
  const sql = (text: string) => bash(`psql --no-psqlrc --quiet --tuples-only --no-align --command "${text}" postgres`);

  before(async function () {
    if (programs === undefined) return this.skip();
    // PostgreSQL refuses root: then the user of the embedded server runs everything.
    const home = await choosePostgresHome(await mkdtemp(`${tmpdir()}/holdfast-backup-`));
    root = home.root;
    const { uid, gid } = home.process;
    const port = String(await freePort());
    const names = { PGHOST: root, PGPORT: port, PGUSER: 'postgres', BACKUPS: `${root}/backups` };
    const env = { ...names, RESTORED: `${root}/restored`, PATH: `${programs}:/usr/bin:/bin`, LC_ALL: 'C', TZ: 'UTC' };
    const options = { cwd: root, env, timeout: 60_000, ...(uid !== undefined && { uid, gid }) };
    bash = async (script) => (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options)).stdout;
    await mkdir(`${root}/backups/wal`, { recursive: true });
    if (uid !== undefined && gid !== undefined)
      for (const folder of ['', '/backups', '/backups/wal']) await chown(root + folder, uid, gid);
    await bash(`initdb --pgdata data --username postgres --auth trust --encoding UTF8 --locale C --no-sync`);
    const archive = code('archive').replaceAll('$BACKUPS', `${root}/backups`);
    const local = `port = ${port}\nlisten_addresses = ''\nunix_socket_directories = '${root}'\n`;
    await appendFile(`${root}/data/postgresql.conf`, `${archive}${local}`);
    await server(`${root}/data`, 'start');
  });

  after(async () => {
    if (programs === undefined) return;
    for (const data of ['data', 'restored'])
      if (existsSync(`${root}/${data}/postmaster.pid`)) await server(`${root}/${data}`, 'stop', '--mode immediate');
    await rm(root, { recursive: true });
  });

  it('back up a running server, and bring it back to a point in time', async () => {
    await sql("create table note (text text); insert into note values ('before the backup')");
    await bash(code('base'));
    await sql("insert into note values ('after the backup')");
    const target = (await sql('select clock_timestamp()')).trim();
    await sql("insert into note values ('after the time')");
    await archived();
    await server(`${root}/data`, 'stop', '--mode immediate');
    await bash(`TARGET='${target}'\n${code('restore')}`);
    await untilPromoted();
    assert.deepEqual((await sql('select text from note')).trim().split('\n'), [
      'before the backup',
      'after the backup',
    ]);
  });

  it('remove what is too old, and keep the log that the oldest backup needs', async () => {
    await bash('cp -a "$(ls -d "$BACKUPS"/base/* | tail -1)" "$BACKUPS/base/20200101T000000"');
    await bash('touch -d "15 days ago" "$BACKUPS/base/20200101T000000"; touch "$BACKUPS/wal/000000010000000000000000"');
    await bash(code('retention'));
    assert.equal((await readdir(`${root}/backups/base`)).length, 1);
    const log = await readdir(`${root}/backups/wal`);
    assert(!log.includes('000000010000000000000000'));
    assert(log.length > 0);
  });

  /** Waits until the log up to now is in the archive. */
  const archived = async () => {
    const segment = (await sql('select pg_walfile_name(pg_switch_wal())')).trim();
    while (!existsSync(`${root}/backups/wal/${segment}`)) await sql('select pg_sleep(0.05)');
  };

  const untilPromoted = async () => {
    while ((await sql('select pg_is_in_recovery()')).trim() === 't') await sql('select pg_sleep(0.05)');
  };
});
