import assert from 'node:assert/strict';
import { type HoldBooks, settleCapture } from '../domain/hold.ts';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold.ts';
import { lockHolds } from '../storage/lock-holds.ts';
import { type CaptureResult, openCaptures, settleCaptures } from '../storage/settle-captures.ts';
import type { Ended } from './books.ts';
import { cardOf, endedOf, outcomeColumns, resultOf } from './result.ts';

/** How a capture ended. */
export interface CaptureEnd {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture: boolean;
  readonly outcome: FinalOutcome;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** What ending it did, and the hold's books right after it. */
export interface CaptureEnded extends Ended {
  readonly books?: HoldBooks;
}

const NOTHING: CaptureEnded = { changed: false, deliveries: [] };

/** Ends captures, each of another hold, in one transaction: lock, reckon, write. */
export function settleGatheredCaptures(database: Database, ends: readonly CaptureEnd[]): Promise<CaptureEnded[]> {
  return database.transaction(async (query) => {
    const locked = await lockHolds(
      query,
      ends.map(({ holdRequestId }) => holdRequestId),
    );
    const holds = new Map(locked.map((hold) => [hold.requestId, hold]));
    const open = await openCaptures(
      query,
      ends.map(({ requestId }) => requestId),
    );
    const results = ends.filter(({ requestId }) => open.has(requestId)).map((end) => captureResult(end, holds));
    if (results.length === 0) return ends.map(() => NOTHING);
    const settled = await settleCaptures(query, results);
    const written = new Map(results.map((result) => [result.requestId, result]));
    return ends.map(({ requestId }) => {
      const result = written.get(requestId);
      return result ? { ...endedOf(settled, result.operation), books: result.books } : NOTHING;
    });
  });
}

function captureResult(end: CaptureEnd, holds: ReadonlyMap<string, HoldRow>): CaptureResult {
  const hold = holds.get(end.holdRequestId);
  assert(hold, 'a capture has a hold');
  const ok = isOk(end.outcome);
  const { card: _, ...columns } = { card: undefined, ...outcomeColumns(end.outcome) };
  const subject = { ...hold, amount: end.amount, card: cardOf(hold), holdRequestId: hold.requestId };
  return {
    ...columns,
    requestId: end.requestId,
    holdRequestId: end.holdRequestId,
    ok,
    at: end.at.toISOString(),
    bankReference: isOk(end.outcome) ? end.outcome.bankReference : undefined,
    books: settleCapture(hold, end, ok),
    operation: resultOf(end.requestId, 'CAPTURE', subject, end.outcome, end.at, end.traceParent),
  };
}
