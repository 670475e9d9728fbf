import { EntryKind } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Sender } from '../kinds/sender.ts';
import { readEntries } from '../processor/read-entries.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { carryOut, type Plan } from './carry-out.ts';
import { unknownAuthorization } from './unknown-entry.ts';

/**
 * Imports the hold of a checkout that has ended, when the database went back in time and has lost it. Does nothing
 * while the database is not being reconciled, and when the processor's books do not have its end. Audited. Throws
 * UNAVAILABLE when the processor does not answer.
 */
export async function importCheckout(sender: Sender, processor: string, identifier: string): Promise<void> {
  if (!(await reconcilingSince(sender.database.query))) return;
  const ledger = sender.processors.of({ processor });
  const pages = await Array.fromAsync(readEntries(processor, ledger, { authorizationRequestId: identifier }));
  const found = pages
    .flatMap(({ entries }) => entries)
    .find(({ requestId, kind }) => requestId === identifier.toLowerCase() && kind === EntryKind.AUTHORIZATION);
  if (!found) return;
  const entry = unknownAuthorization(processor, found);
  const answer = await ledger.inquire({ ...entry, processorAccount: entry.account });
  if (answer.found !== 'DONE') return;
  const plan: Plan = { entry, verb: 'import', answer };
  await carryOut(sender, `processor/${processor}`, [plan], ({ failure }) => {
    if (failure !== undefined) throw failure;
  });
}
