import { AGAIN } from '../../../platform/gather.ts';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import type { Database } from '../storage/database.ts';
import { settleOcts } from '../storage/oct/write-octs.ts';
import type { Ended } from './outcomes.ts';
import { endedOf, outcomeColumns, resultOf } from './result.ts';
import type { PlacedFacts } from './settle-hold.ts';

/** How an OCT ended. */
export interface OctEnd {
  readonly oct: Omit<PlacedFacts, 'notifyHolds' | 'holdPeriodS'>;
  readonly outcome: FinalOutcome;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** Ends OCTs in one statement. */
export async function settleGatheredOcts(
  database: Database,
  ends: readonly OctEnd[],
): Promise<(Ended | typeof AGAIN)[]> {
  const results = ends.map(({ oct, outcome, at, traceParent }) => ({
    ...outcomeColumns(outcome),
    requestId: oct.requestId,
    ok: isOk(outcome),
    at: at.toISOString(),
    bankReference: isOk(outcome) ? outcome.bankReference : undefined,
    operation: resultOf(oct.requestId, 'OCT', { ...oct, notifyHolds: true }, outcome, at, traceParent),
  }));
  const settled = await settleOcts(database.query, results);
  return results.map(({ requestId, operation }) =>
    settled.locked.has(requestId) ? endedOf(settled, operation) : AGAIN,
  );
}
