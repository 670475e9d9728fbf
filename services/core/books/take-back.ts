/** Amounts that come back from operations that were OK: captures, refunds and OCTs. */
import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { holdAfter } from '../domain/hold-after.ts';
import type { HoldBooks } from '../domain/hold-rules.ts';
import { returnRefund } from '../domain/refund-rules.ts';
import { reinstate, reverse, reversibleOf, takenBackOf } from '../domain/reversal-rules.ts';
import type { Database, Query } from '../storage/database.ts';
import { type ReadHold, readHolds } from '../storage/hold/read-holds.ts';
import { findEvent, type NamedEvent } from '../storage/processor-event/processor-events.ts';
import { type Amendment, amendEnded } from '../storage/submission/amend-ended.ts';
import { findSubmission, readCaptures } from '../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import { subjectOfOct } from './oct-books.ts';
import { resultOf, type Subject, subjectOn } from './operation-result.ts';
import { NOTHING_SETTLED, type Settled, settledOf } from './settle-gathered.ts';

/** An amount that came back, or was given again, as the processor reported it. */
export interface TakingBack {
  /** Names the operation that this makes. */
  readonly requestId: string;
  readonly kind: keyof typeof WAYS;
  /** Absent of an OCT. */
  readonly holdRequestId?: string | undefined;
  /** The capture, refund or OCT; absent of a reversal when the processor does not know which capture it was. */
  readonly subjectRequestId?: string | undefined;
  /** Minor units; absent = all that can come back. */
  readonly amount?: bigint | undefined;
  /** The processor's reference of it. */
  readonly reference: string;
  /** Why it came back, when the processor says it. */
  readonly reason?: { readonly code: string; readonly message: string } | undefined;
  /**
   * The event that reported it, which is remembered with what it did, so that it is booked once. Absent = it is
   * imported, or known by a contradiction.
   */
  readonly event?: NamedEvent;
  /** The open contradiction by which it is known. It is resolved with it, so that it is booked once. */
  readonly contradictionId?: string | undefined;
  /**
   * Reads the amount that has come back at the processor by now, minor units: only the part missing here is booked.
   * Undefined = all of `amount` is booked.
   */
  readonly readTakenBack?: ReadTakenBack | undefined;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

export type ReadTakenBack = (
  hold: ReadHold | undefined,
  subject: SubmissionRow | undefined,
) => Promise<bigint | undefined>;

/** The result: booked, now or before; or refused as more than can come back, or be given again. */
export type TakenBack = 'BOOKED' | 'TOO_MUCH';

/** The rows read before it is judged. */
interface Case {
  readonly hold: ReadHold | undefined;
  readonly subject: SubmissionRow | undefined;
  /** All captures of the hold, when it is about one. */
  readonly captures: readonly SubmissionRow[];
}

/** The way a kind comes back. Amounts are minor units. */
interface Way {
  /** The amount that has come back by now. */
  bookedOf(about: Case): bigint;
  /** The greatest amount that can come back, or be given again. */
  limitOf(about: Case): bigint;
  /** -1 = it reduces the amount that came back. */
  readonly sign: 1n | -1n;
  booksOf(hold: ReadHold, amount: bigint): HoldBooks;
  /** The changes of the subject, of which `back` has come back then, and of the refunded capture. */
  rowsOf(subject: SubmissionRow, back: bigint, amount: bigint): Partial<Amendment>;
  /** The identifiers in its result. */
  namesOf(subject: SubmissionRow | undefined): Partial<Subject>;
}

const OF_CAPTURE = {
  bookedOf: ({ hold, subject, captures }: Case) => takenBackOf(required(hold), subject, captures),
  rowsOf: (_: SubmissionRow, amountReversed: bigint) => ({ amountReversed }),
  namesOf: (capture: SubmissionRow | undefined) => ({ captureRequestId: capture?.requestId }),
} as const;

const OF_RETURN = {
  sign: 1n,
  bookedOf: ({ subject }: Case) => required(subject).amountReturned,
  limitOf({ subject }: Case): bigint {
    const { state, amount, amountReturned } = required(subject);
    return state === 'OK' ? amount - amountReturned : 0n;
  },
} as const;

const WAYS = {
  REVERSAL: {
    ...OF_CAPTURE,
    sign: 1n,
    limitOf: ({ hold, subject }) => reversibleOf(required(hold), subject),
    booksOf: reverse,
  },
  REINSTATEMENT: { ...OF_CAPTURE, sign: -1n, limitOf: OF_CAPTURE.bookedOf, booksOf: reinstate },
  REFUND_RETURN: {
    ...OF_RETURN,
    booksOf: returnRefund,
    rowsOf: ({ captureRequestId }, amountReturned, amount) => ({
      amountReturned,
      captureRequestId: captureRequestId ?? undefined,
      refundedMore: -amount,
    }),
    namesOf: (refund) => ({ captureRequestId: refund?.captureRequestId, refundRequestId: refund?.requestId }),
  },
  OCT_RETURN: {
    ...OF_RETURN,
    booksOf: (hold) => hold,
    rowsOf: ({ amountReturned: returnedBefore }, amountReturned) => ({
      amountReturned,
      stateBefore: 'OK',
      returnedBefore,
    }),
    namesOf: (oct) => ({ octRequestId: oct?.requestId }),
  },
} as const satisfies Record<string, Way>;

/**
 * Books an amount that came back, once for its event: reads, reckons, and writes if nothing has changed since. It reads
 * the hold before its operations, and before the processor's books. A later change of any of them changes the hold, and
 * then nothing is written. So an amount that another event or an import books meanwhile is not booked again.
 */
export async function takeBack(
  { query }: Database,
  taking: TakingBack,
): Promise<{ readonly became: TakenBack; readonly settled: Settled } | typeof AGAIN> {
  const { requestId, kind, reference, reason, event, contradictionId, at, traceParent } = taking;
  const way: Way = WAYS[kind];
  const about = await read(query, taking);
  const { hold, subject } = about;
  const booked = way.bookedOf(about);
  const limit = way.limitOf(about);
  const amount = unbookedPart(way.sign, taking.amount ?? limit, booked, await taking.readTakenBack?.(hold, subject));
  if (amount <= 0n) return { became: 'BOOKED', settled: NOTHING_SETTLED };
  if (amount > limit) {
    // The same event may have been booked meanwhile, and have left nothing.
    const isBooked = event && (await findEvent(query, event.id, event.processor));
    return { became: isBooked ? 'BOOKED' : 'TOO_MUCH', settled: NOTHING_SETTLED };
  }
  const books = hold && way.booksOf(hold, amount);
  const common = hold
    ? subjectOn(hold, holdAfter(hold, books), amount)
    : { ...subjectOfOct(required(subject)), amount };
  const outcome = { answer: 'APPROVED', reference, bankReference: '' } as const;
  const imported = event === undefined && contradictionId === undefined;
  const ending = { outcome, at, imported, traceParent };
  const operation = resultOf(requestId, kind, { ...common, ...way.namesOf(subject), because: reason }, ending);
  const done = await amendEnded(query, {
    ...(hold && { ...books, holdRequestId: hold.requestId, version: hold.version }),
    requestId,
    subjectRequestId: subject?.requestId,
    ...(subject && way.rowsOf(subject, booked + way.sign * amount, amount)),
    at: at.toISOString(),
    eventId: event?.id,
    eventProcessor: event?.processor,
    digest: event?.digest.toString('hex'),
    contradictionId,
    operation,
  });
  if (!done.locked.has(requestId)) return AGAIN;
  return { became: 'BOOKED', settled: settledOf(done, requestId, operation) };
}

async function read(query: Query, { kind, holdRequestId, subjectRequestId }: TakingBack): Promise<Case> {
  const [hold] = holdRequestId === undefined ? [] : await readHolds(query, [holdRequestId]);
  assert((hold === undefined) === (kind === 'OCT_RETURN'), 'everything but an OCT has a hold');
  if (kind === 'REVERSAL' || kind === 'REINSTATEMENT') {
    const captures = await readCaptures(query, required(hold).requestId);
    return { hold, captures, subject: captures.find(({ requestId }) => requestId === subjectRequestId) };
  }
  return { hold, captures: [], subject: await findSubmission(query, subjectRequestId ?? '') };
}

/**
 * Returns the part of the reported amount that is not booked yet. `booked` has come back by our books, `atProcessor` by
 * the processor's; undefined = they were not read.
 */
function unbookedPart(sign: bigint, amount: bigint, booked: bigint, atProcessor: bigint | undefined): bigint {
  if (atProcessor === undefined) return amount;
  const difference = sign * (atProcessor - booked);
  return difference < amount ? difference : amount;
}

function required<T>(value: T | undefined): T {
  assert(value !== undefined, 'what comes back was stored');
  return value;
}
