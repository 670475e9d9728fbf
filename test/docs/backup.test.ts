/**
 * Runs the commands of docs/backup.md on a PostgreSQL that has the programs they use, with the service in it; skipped
 * where there is none.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { openMerchant } from '../services/core/shop.ts';
import { openStage } from '../services/core/stage.ts';
import { standIn } from '../suite.ts';
import { type BackupServer, programs, run, startBackupServer } from './backup-server.ts';
import { namedCode } from './code-blocks.ts';

const code = namedCode('backup.md');

describe('the commands of docs/backup.md', () => {
  let started: BackupServer | undefined;
  const server = standIn<BackupServer>(() => started);

  before(async function () {
    if (programs === undefined) return this.skip();
    started = await startBackupServer((root) => {
      return { environment: {}, archive: code('archive').replaceAll('$BACKUPS', `${root}/backups`) };
    });
  });
  after(() => started?.close());

  it('back up a running service, bring it back to a point in time, and reconcile what it lost', async () => {
    await server.sql('create database holdfast');
    await npm(code('drill').split('\n')[0] ?? '');
    const stage = await openStage({ database: { url: server.urlOf('holdfast'), drop: async () => undefined } });
    try {
      const shop = await openMerchant(stage, 'acme');
      await shop.hold();
      await server.bash(code('base'));
      const kept = await shop.hold();
      const target = await server.sql('select clock_timestamp()');
      await shop.hold();
      await shop.capture(kept, 300n);
      await archived();
      for (const core of stage.cores) await core.close();
      await server.stop();
      await server.bash(`TARGET='${target}'\n${code('restore')}`);
      await server.untilPromoted();
      const { PROCESSOR_URL = '', PROCESSOR_CREDENTIAL = '', ENCRYPTION_KEYS } = stage.settings;
      const [key] = ENCRYPTION_KEYS;
      const keys = `${key?.id}:${key?.key.toString('base64')}`;
      const said = await npm(code('drill'), { PROCESSOR_URL, PROCESSOR_CREDENTIAL, ENCRYPTION_KEYS: keys });
      await rm(/ merchants are in (reconciled\/\S+)$/m.exec(said)?.[1] ?? assert.fail(said), { recursive: true });
      assert.match(said, /2 imported, 0 given back, 0 unknown here\nreconciling has ended/);
      assert.match(said, /audited 3 holds, 1 captures, .* 0 drifts\n$/);
      const alone = npm(code('alone'), { PROCESSOR_CREDENTIAL });
      await assert.rejects(alone, ({ code, stdout }: { code: number; stdout: string }) => {
        assert.equal(code, 2);
        assert.match(stdout, /^audited 3 holds, .* and no processor's entries in .* 0 drifts$/m);
        return true;
      });
    } finally {
      await stage.close();
    }
  });

  it('remove what is too old, and keep the log that the oldest backup needs', async () => {
    await server.bash('cp -a "$(ls -d "$BACKUPS"/base/* | tail -1)" "$BACKUPS/base/20200101T000000"');
    await server.bash(
      'touch -d "15 days ago" "$BACKUPS/base/20200101T000000"; touch "$BACKUPS/wal/000000010000000000000000"',
    );
    await server.bash(code('retention'));
    assert.equal((await readdir(`${server.root}/backups/base`)).length, 1);
    const log = await readdir(`${server.root}/backups/wal`);
    assert(!log.includes('000000010000000000000000'));
    assert(log.length > 0);
  });

  /** Runs npm commands as they stand, in the project. */
  const npm = async (script: string, settings: Record<string, string> = {}) => {
    const env = { ...process.env, DATABASE_URL: server.urlOf('holdfast'), ...settings };
    return (await run('bash', ['-euo', 'pipefail', '-c', script], { env, timeout: 120_000 })).stdout;
  };

  /** Waits until the log up to now is in the archive. */
  const archived = async () => {
    const segment = await server.sql('select pg_walfile_name(pg_switch_wal())');
    while (!existsSync(`${server.root}/backups/wal/${segment}`)) await server.sql('select pg_sleep(0.05)');
  };
});

describe('the commands of docs/backup.md with pgBackRest', () => {
  let started: BackupServer | undefined;
  const server = standIn<BackupServer>(() => started);

  before(async function () {
    if (programs === undefined || !existsSync('/usr/bin/pgbackrest')) return this.skip();
    started = await startBackupServer((root, port) => {
      const pathOf = (name: string) => [`PGBACKREST_${name}_PATH`, root] as const;
      const paths = Object.fromEntries(['LOG', 'LOCK', 'PG1_SOCKET', 'SPOOL'].map(pathOf));
      const local = { PGBACKREST_CONFIG: `${root}/pgbackrest.conf`, PGBACKREST_PG1_PORT: port };
      const environment = { ...paths, ...local, PGBACKREST_PG1_USER: 'postgres', PASSPHRASE: 'only for this test' };
      return { environment, archive: code('pgbackrest-archive') };
    });
    await server.bash(`cat > pgbackrest.conf <<END\n${code('pgbackrest')}END`);
  });
  after(() => started?.close());

  it('back up a running server, and bring it back to a point in time', async () => {
    await server.bash(code('pgbackrest-create'));
    await server.sql("create table note (text text); insert into note values ('before the backup')");
    await server.bash(code('pgbackrest-base'));
    await server.sql("insert into note values ('after the backup')");
    await server.bash(code('pgbackrest-base'));
    const target = await server.sql('select clock_timestamp()');
    await server.sql("insert into note values ('after the time')");
    await server.bash('pgbackrest --stanza=holdfast check');
    await server.stop();
    await server.bash(`TARGET='${target}'\n${code('pgbackrest-restore')}`);
    await server.untilPromoted();
    const notes = (await server.sql('select text from note')).split('\n');
    assert.deepEqual(notes, ['before the backup', 'after the backup']);
    assert.equal(await server.sql('show archive_mode'), 'off');
  });
});
