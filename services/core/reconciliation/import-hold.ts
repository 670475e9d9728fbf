import { EntryKind } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Sender } from '../kinds/sender.ts';
import { readEntries } from '../processor/read-entries.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import { findSentAs, type Sent } from '../storage/submission/find-sent.ts';
import { carryOut, type Plan } from './carry-out.ts';
import { unknownAuthorization } from './unknown-entry.ts';

/**
 * Finds what a customer's page belongs to, by its identifier at the processor, when it has ended. When the database went
 * back in time and has lost it, and the processor's books have its end as an authorization, it is imported. Audited.
 * Throws UNAVAILABLE when the processor does not answer.
 */
export async function findOrImportHold(
  sender: Sender,
  processor: string,
  identifier: string,
): Promise<Sent | undefined> {
  const { query } = sender.database;
  const known = await findSentAs(query, identifier, processor);
  if (known || !(await reconcilingSince(query))) return known;
  const ledger = sender.processors.of({ processor });
  const pages = await Array.fromAsync(readEntries(processor, ledger, { authorizationRequestId: identifier }));
  const found = pages
    .flatMap(({ entries }) => entries)
    .find(({ requestId, kind }) => requestId === identifier.toLowerCase() && kind === EntryKind.AUTHORIZATION);
  // A renewal is imported in its place among what was done with its hold.
  if (found?.authorizationRequestId !== '') return undefined;
  const entry = unknownAuthorization(processor, found);
  const answer = await ledger.inquire({ ...entry, processorAccount: entry.account });
  if (answer.found !== 'DONE') return undefined;
  const plan: Plan = { entry, verb: 'import', answer };
  await carryOut(sender, `processor/${processor}`, [plan], ({ failure }) => {
    if (failure !== undefined) throw failure;
  });
  return findSentAs(query, identifier, processor);
}
