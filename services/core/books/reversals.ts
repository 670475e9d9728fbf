import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { reinstate, reverse } from '../domain/hold-rules.ts';
import { leftOf, leftWithoutRefunds, takenBackOf } from '../domain/refund-rules.ts';
import type { Database } from '../storage/database.ts';
import { bookTakenBack } from '../storage/hold/book-reversal.ts';
import { type ReadHold, readHolds } from '../storage/hold/read-holds.ts';
import type { NamedEvent } from '../storage/processor-event/processor-events.ts';
import { readCaptures } from '../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import { resultOf, subjectOn } from './operation-result.ts';
import { NOTHING_SETTLED, type Settled, settledOf } from './settle-gathered.ts';

/** What the card scheme took back, or gave again, as the processor reported it. */
export interface TakingBack {
  /** Names the reversal or reinstatement. */
  readonly requestId: string;
  readonly kind: 'REVERSAL' | 'REINSTATEMENT';
  readonly holdRequestId: string;
  /** Undefined = the processor does not know which capture it was. */
  readonly captureRequestId?: string | undefined;
  /** Minor units. */
  readonly amount: bigint;
  /** The processor's reference of it. */
  readonly reference: string;
  /**
   * The event that reported it, which is remembered with what it did, so that it is booked once. Absent = it is
   * imported.
   */
  readonly event?: NamedEvent;
  /**
   * Reads what is taken back of it at the processor by now, minor units: only what is missing here is booked. Undefined
   * = all of `amount` is.
   */
  readonly there?: ((hold: ReadHold, capture: SubmissionRow | undefined) => Promise<bigint | undefined>) | undefined;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/**
 * What became of it: booked, now or before; more than there is to take back or to give again; or possible only if a
 * refund fails that has no result yet.
 */
export type TakenBack = 'BOOKED' | 'TOO_MUCH' | 'REFUNDING';

/**
 * Books a reversal or a reinstatement, once for its event: reads, reckons, and writes if the hold has not changed
 * since. It reads the hold before its captures, and before what the processor has: what changes one of them later
 * changes the hold, and then nothing is written. So what an event or an import books meanwhile is not booked again.
 */
export async function takeBack(
  { query }: Database,
  taking: TakingBack,
): Promise<{ readonly became: TakenBack; readonly settled: Settled } | typeof AGAIN> {
  const { requestId, kind, captureRequestId, reference, event, at, traceParent } = taking;
  const [hold] = await readHolds(query, [taking.holdRequestId]);
  assert(hold, 'what is taken back was captured of a hold');
  const captures = await readCaptures(query, hold.requestId);
  const capture = captures.find((each) => each.requestId === captureRequestId);
  const here = takenBackOf(hold, capture, captures);
  const amount = missing(taking, here, await taking.there?.(hold, capture));
  if (amount <= 0n) return { became: 'BOOKED', settled: NOTHING_SETTLED };
  const most = kind === 'REVERSAL' ? leftOf(hold, capture) : here;
  if (amount > most) {
    const isReserved = kind === 'REVERSAL' && amount <= leftWithoutRefunds(hold, capture);
    return { became: isReserved ? 'REFUNDING' : 'TOO_MUCH', settled: NOTHING_SETTLED };
  }
  const subject = { ...subjectOn(hold, amount), captureRequestId };
  const outcome = { answer: 'APPROVED', reference, bankReference: '' } as const;
  const operation = resultOf(requestId, kind, subject, { outcome, at, imported: event === undefined, traceParent });
  const done = await bookTakenBack(query, {
    ...(kind === 'REVERSAL' ? reverse(hold, amount) : reinstate(hold, amount)),
    requestId,
    holdRequestId: hold.requestId,
    version: hold.version,
    captureRequestId,
    captureReversed: capture && (kind === 'REVERSAL' ? here + amount : here - amount),
    at: at.toISOString(),
    eventId: event?.id,
    eventProcessor: event?.processor,
    digest: event?.digest.toString('hex'),
    operation,
  });
  if (!done.locked.has(requestId)) return AGAIN;
  return { became: 'BOOKED', settled: settledOf(done, requestId, operation) };
}

/** How much of what was reported is not booked yet, given what is taken back `here` and `there`. */
function missing({ kind, amount }: TakingBack, here: bigint, there: bigint | undefined): bigint {
  if (there === undefined) return amount;
  const difference = kind === 'REVERSAL' ? there - here : here - there;
  return difference < amount ? difference : amount;
}
