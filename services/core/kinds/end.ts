import { type FinalOutcome, isOk } from '../domain/operation.ts';
import { freezeHold } from '../storage/hold/change-hold.ts';
import { findResult } from '../storage/operation/operation.ts';
import type { Kind, Named, Settlement } from './kind.ts';

/** What the processor's answer did: the submission ended by it, had ended before, or waits for an operator. */
export type Ending<Settled> =
  | { readonly is: 'ENDED'; readonly settled: Settled; readonly at: Date }
  | { readonly is: 'OVERTAKEN' | 'IN_REVIEW' };

/**
 * Ends a submission by the processor's answer, whenever it came. The first final result stays; a later one that contradicts it changes
 * nothing but freezes the hold and alerts. A refusal of what must happen needs an operator, except when the request never arrived:
 * then it is sent again under a new identifier.
 */
export async function end<Facts extends Named, Settled>(
  settlement: Settlement,
  kind: Kind<Facts, Settled>,
  facts: Facts,
  answer: FinalOutcome,
): Promise<Ending<Settled>> {
  const outcome = kind.readAnswer?.(facts, answer) ?? answer;
  const refused = !isOk(outcome) && outcome.code !== 'never_received';
  if (refused && kind.mustHappen?.(facts)) {
    if (await review(settlement, kind, facts, outcome.code)) return { is: 'IN_REVIEW' };
  } else {
    const at = settlement.clock();
    const settled = await kind.settle(settlement, facts, outcome, at);
    if (settled) return { is: 'ENDED', settled, at };
  }
  await cameLate(settlement, kind, facts, outcome);
  return { is: 'OVERTAKEN' };
}

async function review<Facts extends Named>(
  { books, log }: Settlement,
  { table }: Kind<Facts>,
  { requestId, processor }: Facts,
  processorCode: string,
): Promise<boolean> {
  const isOpen = await books.markNeedsReview(table, requestId);
  if (isOpen) log.error('needs_review', { kind: table, requestId, processor, processorCode });
  return isOpen;
}

async function cameLate<Facts extends Named>(
  settlement: Settlement,
  kind: Kind<Facts>,
  facts: Facts,
  outcome: FinalOutcome,
): Promise<void> {
  if (await kind.handleLate?.(settlement, facts, outcome)) return;
  const { requestId } = facts;
  const { query } = settlement.database;
  const kept = await findResult(query, requestId);
  if (!kept) return;
  const wasDone = kept.statusInfo !== 'declined' && kept.statusInfo !== 'failed';
  if (wasDone === isOk(outcome)) return;
  const holdRequestId = kind.holdOf(facts);
  settlement.log.error('contradicting_event', { requestId, holdRequestId, told: outcome.answer, kept: kept.status });
  if (holdRequestId !== undefined) await freezeHold(query, holdRequestId);
}
