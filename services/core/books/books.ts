import { BusyKeys, type CallerPatience, ResultLost } from '../../../proto/gather.ts';
import { traceParent } from '../../../proto/tracing.ts';
import type { HoldBooks } from '../domain/hold.ts';
import type { AttemptTable } from '../storage/attempts.ts';
import { markNeedsReview, markUnknown, postponeInquiry } from '../storage/attempts.ts';
import type { Database } from '../storage/database.ts';
import { isAboutOneRow, isDatabaseAway, isLockTimeout } from '../storage/database-errors.ts';
import { type HoldInput, insertHolds } from '../storage/insert-holds.ts';
import { insertOcts, type OctInput } from '../storage/insert-octs.ts';
import type { NotStored } from '../storage/known-request.ts';
import { announceOperations, type OperationInput } from '../storage/operation-log.ts';
import { StatementGather } from '../storage/statement-gather.ts';
import { deadlineOf } from './deadline.ts';
import { type Capturing, type Reservation, reserveGatheredCaptures } from './reserve-capture.ts';
import { type ReleaseReservation, type Releasing, reserveHoldRelease } from './reserve-release.ts';
import { type Reversing, reverse } from './reverse.ts';
import { type CaptureEnd, type CaptureEnded, settleGatheredCaptures } from './settle-capture.ts';
import { type HoldEnd, settleGatheredHolds } from './settle-hold.ts';
import { type OctEnd, settleGatheredOcts } from './settle-oct.ts';
import { type ReleaseEnd, settleHoldRelease } from './settle-release.ts';

/**
 * Makes deliveries known to the workers, and their results to whoever watches. The delivery's row is the truth, this is only its
 * alarm, rung after the commit. Never rejects.
 */
export type Ring = (deliveries: readonly { readonly id: string; readonly endpoint: string }[]) => Promise<void>;

/**
 * The books: every write of money, each one statement with all that it implies (state, operation, delivery), which commits without
 * waiting for us. Concurrent callers share commits. Nothing here calls a processor, so no transaction is ever open across the network.
 *
 * What stores a new operation rejects with NotSent when nothing was stored and nothing will be (too many wait, its caller's deadline
 * is over, its caller is gone), and with ResultLost when it may have been stored.
 */
export interface Books {
  insertHold(hold: HoldInput, patience?: CallerPatience): Promise<Insertion>;
  /** Ends the placing of a hold. False = it had ended before. */
  settleHold(end: HoldEnd): Promise<boolean>;
  reserveCapture(capturing: Capturing): Promise<Reservation>;
  /** Ends a capture. Answers the hold's books right after it; undefined = it had ended before. */
  settleCapture(end: CaptureEnd): Promise<HoldBooks | undefined>;
  reserveRelease(releasing: Releasing): Promise<ReleaseReservation>;
  /** Ends a release. False = it had ended before. */
  settleRelease(end: ReleaseEnd): Promise<boolean>;
  insertOct(oct: OctInput, patience?: CallerPatience): Promise<Insertion>;
  /** Ends an OCT. False = it had ended before. */
  settleOct(end: OctEnd): Promise<boolean>;
  /** Books that the card scheme took a capture back. False = it was booked before. */
  reverseCapture(reversing: Reversing): Promise<boolean>;
  /** Stores that an outcome is unknown, and when to inquire. */
  markUnknown(table: AttemptTable, requestId: string, inquireAt: Date): Promise<void>;
  /** Stores when to inquire next. */
  postponeInquiry(table: AttemptTable, requestId: string, at: Date): Promise<void>;
  /** Gives an open attempt to the operators. False = it has ended meanwhile. */
  markNeedsReview(table: AttemptTable, requestId: string): Promise<boolean>;
}

/** What became of a new operation; RESUMED = it is stored by a statement whose result was lost, perhaps another core's. */
export type Insertion = 'STORED' | 'RESUMED' | NotStored;

/** A write that ended operations: whether it changed its subject, and which deliveries it made. */
export interface Ended {
  readonly changed: boolean;
  readonly deliveries: readonly { readonly id: string; readonly endpoint: string }[];
  /** The result, when it was written and is told. */
  readonly result?: Pick<OperationInput, 'kind' | 'status' | 'statusInfo'> | undefined;
}

/** Whoever counts what the books do. */
export interface BooksObserver {
  ended(result: Pick<OperationInput, 'kind' | 'status' | 'statusInfo'>): void;
  /** So many requests go into one statement. */
  gathered(write: string, size: number): void;
}

/** Opens the books on a database. */
export function openBooks(database: Database, ring: Ring, observer?: BooksObserver): Books {
  const counted = (write: string) => ({ onBatch: (size: number) => observer?.gathered(write, size) });
  const holds = new StatementGather<Timed<HoldInput>, Insertion>((batch) => insertHolds(database.query, batch), {
    ...INTENT,
    ...counted('hold'),
    afterLoss: storedBefore,
  });
  const holdEnds = new StatementGather<HoldEnd, Ended>((batch) => settleGatheredHolds(database, batch), {
    ...END,
    ...counted('hold_end'),
    keyOf: (end) => end.hold.requestId,
  });
  // A hold has one writer at a time in this process; those of other processes show by the hold's version. Ends are told first of a hold
  // that is free: were new captures as quick, a crowd at one hold would be charged faster than it is answered.
  const writers = new BusyKeys();
  const captureEnds = new StatementGather<CaptureEnd, CaptureEnded>(
    (batch) => settleGatheredCaptures(database, batch),
    { ...END, ...counted('capture_end'), keys: writers, keyOf: (end) => end.holdKey },
  );
  const captures = new StatementGather<Capturing, Reservation>((batch) => reserveGatheredCaptures(database, batch), {
    ...INTENT,
    ...counted('capture'),
    maxPerKey: MAX_PER_HOLD,
    keys: writers,
    keyOf: (capturing) => capturing.idHash.toString('hex'),
    afterLoss: reservedBefore,
  });
  const releases = new StatementGather<Releasing, ReleaseReservation>(
    (batch) => each(batch, (releasing) => reserveHoldRelease(database, releasing)),
    { ...INTENT, ...ONE_EACH, keyOf: (releasing) => releasing.holdRequestId, afterLoss: reservedBefore },
  );
  const releaseEnds = new StatementGather<ReleaseEnd, Ended>(
    (batch) => each(batch, (end) => settleHoldRelease(database, end)),
    { ...END, ...ONE_EACH, keyOf: (end) => end.requestId },
  );
  const octs = new StatementGather<Timed<OctInput>, Insertion>((batch) => insertOcts(database.query, batch), {
    ...INTENT,
    ...counted('oct'),
    afterLoss: storedBefore,
  });
  const octEnds = new StatementGather<OctEnd, Ended>((batch) => settleGatheredOcts(database, batch), {
    ...END,
    ...counted('oct_end'),
    keyOf: (end) => end.oct.requestId,
  });
  const reversals = new StatementGather<Reversing, Ended>(
    (batch) => each(batch, (reversing) => reverse(database, reversing)),
    { ...END, ...ONE_EACH, keyOf: (reversing) => reversing.captureRequestId },
  );
  const announcements = new StatementGather<null, null>((batch) => announced(database, batch), {
    maxBatch: 10_000,
    lanes: 1,
    maxWaitMs: 1_000,
  });
  const rung = (ended: Ended): boolean => {
    if (ended.changed && ended.result) observer?.ended(ended.result);
    // Whoever waits for the answer gets it first.
    setImmediate(() => {
      if (ended.deliveries.length > 0) void ring(ended.deliveries);
      // A failed announcement is none: streams poll besides, and the commit has been answered already.
      else if (ended.changed) announcements.submit(null).catch(() => undefined);
    });
    return ended.changed;
  };
  return {
    insertHold: (hold, patience) => holds.submit(timed(hold, patience), patience),
    settleHold: async (end) => rung(await holdEnds.submit(traceable(end))),
    reserveCapture: (capturing) => captures.submit(capturing, capturing.patience),
    settleCapture: async (end) => {
      const ended = await captureEnds.submit(traceable(end));
      return rung(ended) ? ended.books : undefined;
    },
    reserveRelease: (releasing) => releases.submit(releasing, releasing.patience),
    settleRelease: async (end) => rung(await releaseEnds.submit(end)),
    insertOct: (oct, patience) => octs.submit(timed(oct, patience), patience),
    settleOct: async (end) => rung(await octEnds.submit(traceable(end))),
    reverseCapture: async (reversing) => rung(await reversals.submit(reversing)),
    markUnknown: (table, requestId, inquireAt) => markUnknown(database.query, table, requestId, inquireAt),
    postponeInquiry: (table, requestId, at) => postponeInquiry(database.query, table, requestId, at),
    markNeedsReview: (table, requestId) => markNeedsReview(database.query, table, requestId),
  };
}

type Timed<Input> = Input & { readonly deadline?: string | undefined };

function timed<Input>(input: Input, patience: CallerPatience | undefined): Timed<Input> {
  return { ...input, deadline: deadlineOf(patience) };
}

/** What a repetition of an insertion says of the first one, whose result was lost. */
function storedBefore(outcome: Insertion): Insertion {
  if (outcome === 'LATE') throw new ResultLost('the result is not known');
  return outcome === 'REPEATED' ? 'RESUMED' : outcome;
}

/** The same for a reservation. A refusal is not final: the first statement may be under way still. */
function reservedBefore<R extends Reservation | ReleaseReservation>(reservation: R): R {
  if (reservation.reserved || reservation.refusal === 'KEY_TAKEN') return reservation;
  if (reservation.refusal === 'REPEATED' && reservation.hold) return { reserved: true, hold: reservation.hold } as R;
  throw new ResultLost('the result is not known');
}

/** Ends that are gathered leave their callers' context, so each takes its trace along. */
function traceable<End extends { readonly traceParent?: string | undefined }>(end: End): End {
  const parent = traceParent();
  return parent === undefined ? end : { ...end, traceParent: parent };
}

/** Commands that have a statement each. */
function each<Command, Answer>(batch: readonly Command[], run: (command: Command) => Promise<Answer>) {
  return Promise.all(batch.map(run));
}

async function announced(database: Database, batch: readonly null[]): Promise<readonly null[]> {
  await announceOperations(database.query);
  return batch;
}

/**
 * Stores new operations. Two statements under way keep the disk busy while the next one is planned. What has waited for 5 s is
 * refused: its caller is better served by an answer that says so.
 */
const INTENT = {
  maxBatch: 256,
  lanes: 2,
  inParts: true,
  maxWaitMs: 5_000,
  // An idempotency key that another session is inserting.
  isAboutOne: (error: unknown) => isAboutOneRow(error) || isLockTimeout(error),
};
/**
 * Ends operations. What appends to the operation log takes turns at its lock, so a second statement would only wait there. An end is
 * worth several tries: after that the caller is answered that the outcome is being found out, and recovery stores it.
 */
const END = { maxBatch: 256, lanes: 1, inParts: true, maxWaitMs: 5_000, isPassing: isDatabaseAway };
/** For what is rare: a statement for each command, so many at once. */
const ONE_EACH = { maxBatch: 1, lanes: 4 };
/** Captures of one hold that wait to be judged: a fraction of a second's work. */
const MAX_PER_HOLD = 32;
