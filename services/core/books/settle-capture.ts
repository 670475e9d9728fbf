import { AGAIN } from '../../../platform/gather.ts';
import { type HoldBooks, settleCapture } from '../domain/hold.ts';
import { type FinalOutcome, isOk } from '../domain/operation.ts';
import { type CaptureResult, readHoldsOfOpenCaptures, settleCaptures } from '../storage/capture/settle-captures.ts';
import type { Database } from '../storage/database.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import type { Ended } from './outcomes.ts';
import { cardOf, endedOf, outcomeColumns, resultOf } from './result.ts';

/** How a capture ended. */
export interface CaptureEnd {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** The hold's idHash, hexadecimal. Ends and reservations of one hold run one after another. */
  readonly holdKey: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture: boolean;
  readonly outcome: FinalOutcome;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** The outcome of ending a capture, and the hold's books right after it. */
export interface CaptureEnded extends Ended {
  readonly books?: HoldBooks;
}

const NOTHING: CaptureEnded = { changed: false, deliveries: [] };

/** Ends captures of different holds: reads each hold, calculates, and writes if the hold has not changed since. */
export async function settleGatheredCaptures(
  { query }: Database,
  ends: readonly CaptureEnd[],
): Promise<(CaptureEnded | typeof AGAIN)[]> {
  const holds = await readHoldsOfOpenCaptures(
    query,
    ends.map(({ requestId }) => requestId),
  );
  const results = ends.flatMap((end) => {
    const hold = holds.get(end.requestId);
    return hold ? [captureResult(end, hold)] : [];
  });
  if (results.length === 0) return ends.map(() => NOTHING);
  const settled = await settleCaptures(query, results);
  const written = new Map(results.map((result) => [result.requestId, result]));
  return ends.map(({ requestId, holdRequestId }) => {
    const result = written.get(requestId);
    if (!result) return NOTHING;
    if (!settled.locked.has(holdRequestId)) return AGAIN;
    return { ...endedOf(settled, result.operation), books: result.books };
  });
}

function captureResult(end: CaptureEnd, hold: ReadHold): CaptureResult {
  const ok = isOk(end.outcome);
  const gaveBack = isOk(end.outcome) && (end.outcome.amountReleased ?? 0n) > 0n;
  const { card: _, ...columns } = { card: undefined, ...outcomeColumns(end.outcome) };
  const subject = { ...hold, amount: end.amount, card: cardOf(hold), holdRequestId: hold.requestId };
  return {
    ...columns,
    requestId: end.requestId,
    holdRequestId: end.holdRequestId,
    version: hold.version,
    ok,
    at: end.at.toISOString(),
    bankReference: isOk(end.outcome) ? end.outcome.bankReference : undefined,
    books: settleCapture(hold, { ...end, gaveBack }, ok),
    operation: resultOf(end.requestId, 'CAPTURE', subject, end.outcome, end.at, end.traceParent),
  };
}
