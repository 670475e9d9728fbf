/** Each release that is pinned in the tree is upgraded to this version, with operations of every kind open. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { migrateDatabase } from '../../../../../services/core/storage/migrate-database.ts';
import releases from '../../../../../services/core/storage/releases/releases.json' with { type: 'json' };
import { approved, done, neverSeen } from '../../fake-processor.ts';
import { LOSSES, RUNS } from '../../kinds/samples.ts';
import { type OpenOperation, openReleasedStage } from './open-operations.ts';
import { createReleasedDatabase, migrationsOf, type Rows, readRows } from './released-database.ts';

for (const { version } of releases) {
  describe(`an upgrade from ${version}`, () => {
    it('keeps every row, and settles what was open', async () => {
      const { nowMs, open, rows } = await recordedBy(version);
      assert(open.length >= 28, `${open.length} were open`);
      const database = await createReleasedDatabase(migrationsOf(version), rows);
      await migrateDatabase(database.url);
      const after = await readRows(database.url);
      for (const [table, before] of Object.entries(rows)) assert.partialDeepStrictEqual(after[table], before, table);
      const released = await openReleasedStage(database);
      try {
        released.stage.clock.advance(nowMs - released.stage.clock.now());
        await settleAll(released, open);
        for (const operation of open)
          assert.equal(await endOf(released, operation), dueEndOf(operation), label(operation));
        assert.deepEqual(await released.stage.audit('own books'), []);
        assert.equal((await released.shop.captured(4_000n)).state, OperationState.OK, 'new payments');
      } finally {
        await released.close();
      }
    });
  });
}

type Released = Awaited<ReturnType<typeof openReleasedStage>>;

/** What was lost is found done, also what is in review; what was not sent never arrived. */
async function settleAll({ stage, processor }: Released, open: readonly OpenOperation[]): Promise<void> {
  const stored = new Set(open.filter(({ how }) => how === 'STORED').map(({ atProcessor }) => atProcessor));
  processor.says = {
    inquire: ({ requestId }) => (stored.has(requestId) ? neverSeen : done(approved)),
    authorize: () => approved,
    capture: () => approved,
  };
  const { events } = stage.channel('processor');
  for (const { how, requestId } of open) {
    if (how !== 'NEEDS_REVIEW') continue;
    const event = { case: 'operationSettled', value: { requestId, result: approved } } as const;
    await events.reportEvent({ eventId: requestId, occurredAt: timestampNow(), event });
  }
  stage.clock.advance(2 * 3_600_000);
  while ((await stage.inquire()) > 0);
}

async function endOf({ shop }: Released, { of, requestId, holdRequestId }: OpenOperation): Promise<string> {
  if (holdRequestId !== null) return shop.books({ requestId: holdRequestId });
  assert.match(of, /^oct/i);
  return OperationState[(await shop.getOct(requestId)).oct?.state ?? 0] ?? '';
}

function dueEndOf({ how, of }: OpenOperation): string {
  return how === 'STORED' ? RUNS[of as keyof typeof RUNS].ends : LOSSES[of as keyof typeof LOSSES].ok;
}

const label = ({ how, of }: OpenOperation) => `${of}, ${how}`;

/** Reads what `record.ts` wrote when the release was made. */
async function recordedBy(version: string) {
  const text = await readFile(`${import.meta.dirname}/${version}.jsonl`, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rows: Record<string, object[]> = {};
  for (const { table, row } of lines) if (table) rows[table] = [...(rows[table] ?? []), row];
  const open: OpenOperation[] = lines.flatMap(({ operation }) => operation ?? []);
  return { nowMs: Number(lines[0].nowMs), open, rows: rows as Rows };
}
