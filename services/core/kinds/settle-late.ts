import assert from 'node:assert/strict';
import type { SubmissionTable } from '../domain/kinds.ts';
import { type FinalOutcome, NEVER_RECEIVED } from '../domain/operation.ts';
import type { Processors } from '../processor/processors.ts';
import { findSubmission } from '../storage/operation/find-submission.ts';
import { end } from './end.ts';
import type { Kind, Named, Settlement } from './kind.ts';
import { KINDS } from './kinds.ts';

/** Settling what came late also asks the processor. */
export interface LateSettlement extends Settlement {
  readonly processors: Processors;
}

/**
 * Settles a stored submission by what the processor says of it after its call: by an inquiry, or an event. False = the processor did not
 * confirm it, so nothing was settled.
 */
export async function settleLate(
  settlement: LateSettlement,
  table: SubmissionTable,
  requestId: string,
  outcome: FinalOutcome,
): Promise<boolean> {
  const kind = KINDS[table];
  const facts = await factsOf(settlement, table, requestId);
  const isDoubtful =
    facts.processorRequestId != null &&
    !facts.imported &&
    outcome !== NEVER_RECEIVED &&
    (await isOpen(settlement, requestId));
  const confirmed = isDoubtful ? await confirm(settlement, kind, facts) : outcome;
  if (confirmed) await end(settlement, kind, facts, confirmed);
  return confirmed !== undefined;
}

/**
 * An identifier that follows from an Idempotency-Key may have been used before a restore, by a call with other fields whose result this
 * is. The processor knows the identifier, so sending the request again does nothing: it returns this request's own result, or that
 * the identifier was used for something else. Undefined = it returned neither.
 */
async function confirm({ processors }: LateSettlement, kind: Kind, facts: Named): Promise<FinalOutcome | undefined> {
  const answer = await kind.call(processors.of(facts), facts);
  return answer.answer === 'UNKNOWN' || answer.answer === 'ACCEPTED' ? undefined : answer;
}

async function isOpen({ database }: Settlement, requestId: string): Promise<boolean> {
  const submission = await findSubmission(database.query, requestId);
  return submission?.state !== 'OK' && submission?.state !== 'KO';
}

/**
 * Settles a submission as an operator decided. What must happen is otherwise never ended by a refusal; an operator's word ends it, and
 * the expiry sweep sends what remains again under a new identifier.
 */
export async function settleDecided(
  settlement: Settlement,
  table: SubmissionTable,
  requestId: string,
  outcome: FinalOutcome,
): Promise<void> {
  const kind = KINDS[table];
  const facts = await factsOf(settlement, table, requestId);
  if (!kind.mustHappen?.(facts)) await end(settlement, kind, facts, outcome);
  else await kind.settle(settlement, facts, outcome, settlement.clock());
}

/** Whether a submission must happen sooner or later, so that only an operator may end it without success. */
export async function mustHappen(settlement: Settlement, table: SubmissionTable, requestId: string): Promise<boolean> {
  return KINDS[table].mustHappen?.(await factsOf(settlement, table, requestId)) ?? false;
}

async function factsOf({ database }: Settlement, table: SubmissionTable, requestId: string) {
  const facts = await KINDS[table].find(database.query, requestId);
  assert(facts, 'a submission that is settled was stored');
  return facts;
}
