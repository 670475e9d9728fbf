/**
 * Runs the commands of docs/backup.md on a PostgreSQL and a pgBackRest of this machine, with the service in it; skipped
 * where they are not installed.
 */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { readBacklog } from '../../../services/core/reports/backlog.ts';
import { openPool } from '../../../services/core/storage/open-pool.ts';
import { namedCode } from '../../docs/code-blocks.ts';
import { openMerchant } from '../../services/core/shop.ts';
import { openStage } from '../../services/core/stage.ts';
import { standIn } from '../../suite.ts';
import { type BackupServer, canBackUp, run, startBackupServer } from './backup-server.ts';

const code = namedCode('backup.md');

describe('the commands of docs/backup.md', () => {
  let started: BackupServer | undefined;
  const server = standIn<BackupServer>(() => started);

  before(async function () {
    if (!canBackUp) return this.skip();
    started = await startBackupServer();
  });
  after(() => started?.close());

  it('back up a running service, bring it back to a point in time, and reconcile what it lost', async () => {
    await server.sql('create database holdfast');
    await npm(code('drill').split('\n')[0] ?? '');
    const stage = await openStage({ database: { url: server.urlOf('holdfast'), drop: async () => undefined } });
    try {
      const shop = await openMerchant(stage, 'acme');
      await shop.hold();
      await server.backUp();
      const kept = await shop.hold();
      const target = await server.sql('select clock_timestamp()');
      await shop.hold();
      await shop.capture(kept, 300n);
      await server.bash('pgbackrest --stanza=holdfast check');
      for (const core of stage.cores) await core.close();
      await server.stop();
      await server.bash(`TARGET='${target}'\n${code('restore')}`);
      await server.untilPromoted();
      const { PROCESSOR_URL = '', PROCESSOR_CREDENTIAL = '', ENCRYPTION_KEYS } = stage.settings;
      const [key] = ENCRYPTION_KEYS;
      const keys = `${key?.id}:${key?.key.toString('base64')}`;
      const said = await npm(code('drill'), { PROCESSOR_URL, PROCESSOR_CREDENTIAL, ENCRYPTION_KEYS: keys });
      await rm(/ merchants are in (reconciled\/\S+)$/m.exec(said)?.[1] ?? assert.fail(said), { recursive: true });
      assert.match(said, /2 imported, 0 closed or refunded, 0 unknown here\nreconciling has ended/);
      assert.match(said, /^audited 3 holds, 1 captures, .* 0 drifts$/m);
      const alone = npm(code('alone'), { PROCESSOR_CREDENTIAL });
      await assert.rejects(alone, ({ code, stdout }: { code: number; stdout: string }) => {
        assert.equal(code, 2);
        assert.match(stdout, /^audited 3 holds, .* and no processor's entries in .* 0 drifts$/m);
        return true;
      });
      // The same repository takes the new timeline.
      const backup = await server.backUp();
      assert.match(backup, /makes a backup/);
      assert.match(backup, /is verified$/m);
    } finally {
      await stage.close();
    }
  });

  it('workers see that the log waits, when a push fails and when it hangs', async () => {
    const database = await openPool({ databaseUrl: server.urlOf('holdfast'), poolSize: 1 });
    const waits = async () => {
      const samples = await readBacklog(database.query, new Date());
      return (samples.find(({ gauge }) => gauge === 'archive_age_seconds')?.value ?? 0) > 0;
    };
    const write = () => server.sql('create table written (); drop table written; select pg_switch_wal()');
    try {
      await server.bash('pgbackrest --stanza=holdfast check');
      while (await waits());
      await server.archiveBy('false');
      await write();
      while (!(await waits()));
      await server.archiveBy(`until test -e ${server.root}/goes-on; do sleep 0.1; done; ${server.push}`);
      await server.bash(`touch goes-on`);
      while (await waits());
      await server.bash(`rm goes-on`);
      await write();
      while (!(await waits()));
      await server.bash(`touch goes-on`);
      while (await waits());
    } finally {
      await database.close();
    }
  });

  /** Runs npm commands as they stand, in the project. */
  const npm = async (script: string, settings: Record<string, string> = {}) => {
    const env = { ...process.env, DATABASE_URL: server.urlOf('holdfast'), ...settings };
    return (await run('bash', ['-euo', 'pipefail', '-c', script], { env, timeout: 300_000 })).stdout;
  };
});
