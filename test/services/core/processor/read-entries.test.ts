import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import {
  Answer,
  type Entry,
  EntryKind,
  EntrySchema,
  ListEntriesResponseSchema,
} from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Ledger, readTakenBack } from '../../../../services/core/processor/read-entries.ts';

describe('readTakenBack()', () => {
  const [hold, capture] = [{ requestId: uuidv7() }, { requestId: uuidv7() }];
  const entry = (requestId: string, kind: EntryKind, reversed: bigint, changedAtMs: number): Entry =>
    create(EntrySchema, {
      requestId,
      kind,
      reversed,
      answer: Answer.APPROVED,
      changedAt: timestampFromMs(Date.UTC(2026, 0, 1) + changedAtMs),
    });
  const authorization = (reversed: bigint, at = 0) => entry(hold.requestId, EntryKind.AUTHORIZATION, reversed, at);
  const captured = (reversed: bigint, at = 0) => entry(capture.requestId, EntryKind.CAPTURE, reversed, at);
  const ledgerOf = (...pages: Entry[][]): Ledger => ({
    async listEntries({ pageToken = '' }) {
      const page = Number(pageToken);
      const nextPageToken = page + 1 < pages.length ? String(page + 1) : '';
      return create(ListEntriesResponseSchema, { entries: pages[page] ?? [], nextPageToken });
    },
  });

  it('takes an entry that has changed, and is listed again, once', async () => {
    const ledger = ledgerOf([authorization(100n), captured(100n)], [captured(150n, 1), authorization(170n, 1)]);
    assert.equal(await readTakenBack('p', ledger, [hold.requestId], capture), 150n);
    assert.equal(await readTakenBack('p', ledger, [hold.requestId], undefined), 20n);
  });

  it('knows an identifier in capital letters', async () => {
    const ledger = ledgerOf([{ ...captured(100n), requestId: capture.requestId.toUpperCase() }]);
    assert.equal(await readTakenBack('p', ledger, [hold.requestId], capture), 100n);
  });
});
