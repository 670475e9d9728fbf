import { AGAIN } from '../../../platform/gather.ts';
import { settleCapture } from '../domain/hold.ts';
import { isOk } from '../domain/operation.ts';
import { type CaptureResult, readHoldsOfOpenCaptures, settleCaptures } from '../storage/capture/write-captures.ts';
import type { Database } from '../storage/database.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import { cardOf, type End, type Ended, endColumns, endedOf, NOTHING_ENDED, resultOf } from './result.ts';

/** How a capture ended. */
export interface CaptureEnd extends End {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** The hold's idHash, hexadecimal. Ends and reservations of one hold run one after another. */
  readonly holdKey: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture: boolean;
}

/** Ends captures of different holds: reads each hold, calculates, and writes if the hold has not changed since. */
export async function settleGatheredCaptures(
  { query }: Database,
  ends: readonly CaptureEnd[],
): Promise<(Ended | typeof AGAIN)[]> {
  const requestIds = ends.map(({ requestId }) => requestId);
  const holds = await readHoldsOfOpenCaptures(query, requestIds);
  const results = ends.flatMap((end) => {
    const hold = holds.get(end.requestId);
    return hold ? [captureResult(end, hold)] : [];
  });
  if (results.length === 0) return ends.map(() => NOTHING_ENDED);
  const settled = await settleCaptures(query, results);
  const written = new Map(results.map((result) => [result.requestId, result]));
  return ends.map(({ requestId, holdRequestId }) => {
    const result = written.get(requestId);
    if (!result) return NOTHING_ENDED;
    if (!settled.locked.has(holdRequestId)) return AGAIN;
    return { ...endedOf(settled, result.operation), books: result.books };
  });
}

function captureResult(end: CaptureEnd, hold: ReadHold): CaptureResult {
  const { requestId, holdRequestId, amount, finalCapture, outcome } = end;
  const ok = isOk(outcome);
  const gaveBack = ok && (outcome.amountReleased ?? 0n) > 0n;
  const subject = { ...hold, amount, card: cardOf(hold), holdRequestId };
  return {
    ...endColumns(requestId, end),
    holdRequestId,
    version: hold.version,
    bankReference: ok ? outcome.bankReference : undefined,
    books: settleCapture(hold, { amount, finalCapture, gaveBack }, ok),
    operation: resultOf(requestId, 'CAPTURE', subject, end),
  };
}
