import { AGAIN } from '../../../platform/gather.ts';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import type { Database } from '../storage/database.ts';
import { settleHolds } from '../storage/hold/settle-holds.ts';
import type { Ended } from './outcomes.ts';
import { endedOf, outcomeColumns, resultOf } from './result.ts';

/** How placing a hold ended. */
export interface HoldEnd {
  readonly hold: PlacedFacts;
  readonly outcome: FinalOutcome;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** The fields of a hold that its placing needs; none of them changes. */
export interface PlacedFacts {
  readonly requestId: string;
  readonly merchantId: string;
  readonly terminalId: string;
  readonly userId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly merchantReference?: string | null | undefined;
  readonly notifyHolds: boolean;
  readonly holdPeriodS: number;
}

/** Ends the placing of holds in one statement. */
export async function settleGatheredHolds(
  database: Database,
  ends: readonly HoldEnd[],
): Promise<(Ended | typeof AGAIN)[]> {
  const results = ends.map(({ hold, outcome, at, traceParent }) => ({
    ...outcomeColumns(outcome),
    requestId: hold.requestId,
    ok: isOk(outcome),
    at: at.toISOString(),
    expiresAt: isOk(outcome) ? expiryOf(hold, at, outcome.expiresAt).toISOString() : undefined,
    generatedTokenId: isOk(outcome) ? outcome.generatedTokenId : undefined,
    capabilities: isOk(outcome) ? outcome.capabilities : undefined,
    operation: resultOf(hold.requestId, 'HOLD', hold, outcome, at, traceParent),
  }));
  const settled = await settleHolds(database.query, results);
  return results.map(({ requestId, operation }) =>
    settled.locked.has(requestId) ? endedOf(settled, operation) : AGAIN,
  );
}

/** The end of a hold: the contract's period from now, or the processor's end when that is earlier (docs/product.md, "Contract of a merchant"). */
export function expiryOf(hold: { holdPeriodS: number }, at: Date, processorEnd: Date | undefined): Date {
  const contractEnd = new Date(at.getTime() + hold.holdPeriodS * 1_000);
  return processorEnd && processorEnd < contractEnd ? processorEnd : contractEnd;
}
