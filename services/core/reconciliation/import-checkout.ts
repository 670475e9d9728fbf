import assert from 'node:assert/strict';
import { EntryKind } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Sender } from '../kinds/facts.ts';
import { readEntries } from '../processor/read-entries.ts';
import { inNameOf } from '../storage/audit-log/actor.ts';
import { auditEnds, auditStarts } from '../storage/audit-log/audit-log.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { importEntry, nameAll, openImportReads, Unable } from './import-entry.ts';
import { unknownAuthorization } from './unknown-entry.ts';

/**
 * Imports the hold of a checkout that has ended, when the database went back in time and has lost it. Does nothing
 * while the database is not being reconciled, and when the processor's books do not have its end. Audited. Throws
 * UNAVAILABLE when the processor does not answer.
 */
export async function importCheckout(sender: Sender, processor: string, identifier: string): Promise<void> {
  const { query } = sender.database;
  if (!(await reconcilingSince(query))) return;
  const ledger = sender.processors.of({ processor });
  const pages = await Array.fromAsync(readEntries(processor, ledger, { authorizationRequestId: identifier }));
  const found = pages
    .flatMap(({ entries }) => entries)
    .find(({ requestId, kind }) => requestId === identifier && kind === EntryKind.AUTHORIZATION);
  if (!found) return;
  const entry = unknownAuthorization(processor, found);
  const answer = await ledger.inquire({ ...entry, processorAccount: entry.account });
  if (answer.found !== 'DONE') return;
  const { merchantId } = entry;
  await inNameOf(`processor/${processor}`, async () => {
    const action = { at: sender.clock(), action: 'processor-entry.import', target: identifier, detail: { merchantId } };
    const [id = ''] = await auditStarts(query, [action]);
    try {
      const names = (await nameAll([{ entry }], sender)).get(entry) ?? assert.fail();
      const requestId = await importEntry(entry, { sender, reads: openImportReads(sender.database), answer, names });
      await auditEnds(query, [{ id, end: { result: 'OK', requestId } }]);
    } catch (error) {
      if (!(error instanceof Unable)) throw error;
      await auditEnds(query, [{ id, end: { result: 'LEFT', reason: error.message } }]);
    }
  });
}
