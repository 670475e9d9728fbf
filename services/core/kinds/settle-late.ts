import assert from 'node:assert/strict';
import type { SubmissionTable } from '../domain/kinds.ts';
import type { FinalOutcome } from '../domain/operation.ts';
import { end } from './end.ts';
import type { Settlement } from './kind.ts';
import { KINDS } from './kinds.ts';

/** Settles a stored submission by what the processor says of it after its call: by an inquiry, or an event. */
export async function settleLate(
  settlement: Settlement,
  table: SubmissionTable,
  requestId: string,
  outcome: FinalOutcome,
): Promise<void> {
  const kind = KINDS[table];
  await end(settlement, kind, await factsOf(settlement, table, requestId), outcome);
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
