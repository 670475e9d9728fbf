/** A migration while a report or a backup has a transaction open on the tables that it changes. */
import assert from 'node:assert/strict';
import { connectAtStart } from '../../../../platform/database-client.ts';
import { recordExtension, runMigrations } from '../../../../platform/migrations/run.ts';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';
import { onDatabase } from './released/released-database.ts';

describe('a migration behind a reader', () => {
  const stage = forSuite(() => openStage());
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  /** Captures until something is over, at least so many times; each one must be OK. */
  async function captureUntil(over: () => boolean, least: number): Promise<void> {
    for (let times = 0; times < least || !over(); times++) {
      assert.equal((await acme.captured(100n)).state, OperationState.OK);
    }
  }

  async function migrateWhileCapturing(statements: readonly string[], endReader: (tries: number) => Promise<unknown>) {
    const client = await connectAtStart(stage.settings.DATABASE_URL);
    let isOver = false;
    const migrated = runMigrations(client, [{ name: 'later', hash: '', statements }], new Map(), {
      table: 'migration',
      lockPid: 0,
      say: () => undefined,
      pause: endReader,
    }).finally(() => {
      isOver = true;
      return client.end();
    });
    await Promise.all([migrated, ...[1, 2, 3, 4].map(() => captureUntil(() => isOver, 5))]);
  }

  it('adds a column without failing a capture, however long the reader stays', async () => {
    await onDatabase(stage.settings.DATABASE_URL, async (reader) => {
      await reader.query(recordExtension('migration'));
      await reader.query('begin');
      await reader.query('select count(*) from submission');
      await reader.query('select count(*) from hold');
      const statements = ['alter table submission add later int', 'alter table hold add later int'];
      await migrateWhileCapturing(statements, async (tries) => tries === 3 && reader.query('commit'));
    });
  });

  it('builds an index and checks a constraint while everybody writes', async () => {
    await onDatabase(stage.settings.DATABASE_URL, async (reader) => {
      await reader.query('begin isolation level repeatable read');
      await reader.query('select count(*) from submission');
      const captured = captureUntil(() => true, 20).then(() => reader.query('commit'));
      await migrateWhileCapturing(
        [
          'create index concurrently later_index on submission (later)',
          'alter table submission add constraint later_check check (later is null) not valid',
          'alter table submission validate constraint later_check',
        ],
        async () => undefined,
      );
      await captured;
      const { rows } = await reader.query(`select indisvalid from pg_index where indexrelid = 'later_index'::regclass`);
      assert.deepEqual(rows, [{ indisvalid: true }]);
    });
  });
});
