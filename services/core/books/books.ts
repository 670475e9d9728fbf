import { BusyKeys, type CallerPatience, ResultLost } from '../../../platform/gather.ts';
import { traceParent } from '../../../platform/tracing.ts';
import type { HoldBooks } from '../domain/hold.ts';
import type { SubmissionTable } from '../domain/kinds.ts';
import type { Announce } from '../storage/announce.ts';
import type { Database } from '../storage/database.ts';
import { isAboutOneRow, isDatabaseAway, isLockTimeout } from '../storage/database-errors.ts';
import { type HoldInput, insertHolds } from '../storage/hold/write-holds.ts';
import { insertOcts, type OctInput } from '../storage/oct/write-octs.ts';
import type { OperationInput } from '../storage/operation/operation-log.ts';
import { markNeedsReview, markUnknown, postponeInquiry } from '../storage/operation/unsettled.ts';
import { StatementGather } from '../storage/statement-gather.ts';
import { deadlineOf, type Insertion, type Reservation, type Reserving } from './reservation.ts';
import { type Capturing, reserveGatheredCaptures } from './reserve-capture.ts';
import type { End, Ended, RareEnd } from './result.ts';
import { type CaptureEnd, settleGatheredCaptures } from './settle-capture.ts';
import { type HoldEnd, type OctEnd, settleGatheredHolds, settleGatheredOcts } from './settle-holds-and-octs.ts';

/**
 * The books: the writes of money. Each is one statement with everything that follows from it (state, operation, delivery) and commits by
 * itself, so no transaction waits for this process or for a processor. Concurrent callers share commits.
 *
 * A method that stores a new operation rejects with NotSent when nothing was stored and nothing will be (too many wait, the caller's
 * deadline has passed, the caller has disconnected), and with ResultLost when it may have been stored.
 */
export interface Books {
  insertHold(hold: HoldInput, patience?: CallerPatience): Promise<Insertion>;
  /** Ends the placing of a hold. Returns false when it had ended before. */
  settleHold(end: HoldEnd): Promise<boolean>;
  reserveCapture(capturing: Capturing): Promise<Reservation>;
  /** Ends a capture. Returns the hold's books right after it; undefined when it had ended before. */
  settleCapture(end: CaptureEnd): Promise<HoldBooks | undefined>;
  insertOct(oct: OctInput, patience?: CallerPatience): Promise<Insertion>;
  /** Ends an OCT. Returns false when it had ended before. */
  settleOct(end: OctEnd): Promise<boolean>;
  /**
   * Runs a reservation that is rare enough for a statement of its own. Reservations with the same key (a hold) run one after another.
   * `run` resolves with AGAIN when the hold was locked or has changed.
   */
  reserve(reserving: Reserving): Promise<Reservation>;
  /** Ends an operation that is rare enough for a statement of its own. */
  end(ending: RareEnd): Promise<Ended>;
  /** Stores that an outcome is unknown, when to inquire, and until when that is normal. */
  markUnknown(table: SubmissionTable, requestId: string, inquireAt: Date, expectedBy?: Date): Promise<void>;
  /** Stores when to inquire next; `expectedBy` when the processor has just said it. */
  postponeInquiry(table: SubmissionTable, requestId: string, at: Date, expectedBy?: Date): Promise<void>;
  /** Marks an open submission for review by an operator. Returns false when it has ended meanwhile. */
  markNeedsReview(table: SubmissionTable, requestId: string): Promise<boolean>;
}

/** Metrics of the books. */
export interface BooksObserver {
  ended(result: Pick<OperationInput, 'kind' | 'status' | 'statusInfo'>): void;
  /** The number of requests in one statement. */
  gathered(write: string, size: number): void;
}

/** Opens the books on a database. */
export function openBooks(database: Database, announce: Announce, observer?: BooksObserver): Books {
  const counted = (write: string) => ({ onBatch: (size: number) => observer?.gathered(write, size) });
  const holds = new StatementGather<HoldInput, Insertion>((batch) => insertHolds(database.query, batch), {
    ...INTENT,
    ...counted('hold'),
    afterLoss: storedBefore,
  });
  const holdEnds = new StatementGather<HoldEnd, Ended>((batch) => settleGatheredHolds(database, batch), {
    ...END,
    ...counted('hold_end'),
    keyOf: (end) => end.hold.requestId,
  });
  // A hold has one writer at a time in this process; the hold's version shows writes of other processes. When a hold becomes free, ends
  // come before new captures: otherwise a crowd at one hold would be charged faster than it is answered.
  const writers = new BusyKeys();
  const captureEnds = new StatementGather<CaptureEnd, Ended>((batch) => settleGatheredCaptures(database, batch), {
    ...END,
    ...counted('capture_end'),
    keys: writers,
    keyOf: (end) => end.holdKey,
  });
  const captures = new StatementGather<Capturing, Reservation>((batch) => reserveGatheredCaptures(database, batch), {
    ...INTENT,
    ...counted('capture'),
    maxPerKey: MAX_PER_HOLD,
    keys: writers,
    keyOf: (capturing) => capturing.idHash.toString('hex'),
    afterLoss: reservedBefore,
  });
  const reservations = new StatementGather<Reserving, Reservation>((batch) => each(batch, ({ run }) => run(database)), {
    ...INTENT,
    ...ONE_EACH,
    keyOf: ({ key }) => key,
    afterLoss: reservedBefore,
  });
  const ends = new StatementGather<RareEnd, Ended>((batch) => each(batch, ({ run }) => run(database)), {
    ...END,
    ...ONE_EACH,
    keyOf: ({ key }) => key,
  });
  const octs = new StatementGather<OctInput, Insertion>((batch) => insertOcts(database.query, batch), {
    ...INTENT,
    ...counted('oct'),
    afterLoss: storedBefore,
  });
  const octEnds = new StatementGather<OctEnd, Ended>((batch) => settleGatheredOcts(database, batch), {
    ...END,
    ...counted('oct_end'),
    keyOf: (end) => end.oct.requestId,
  });
  const announced = (ended: Ended): Ended => {
    if (ended.changed && ended.result) observer?.ended(ended.result);
    // The caller that waits for the answer comes first.
    if (ended.changed) setImmediate(() => announce(ended.deliveries.map(({ endpoint }) => endpoint)));
    return ended;
  };
  return {
    insertHold: (hold, patience) => holds.submit({ ...hold, deadline: deadlineOf(patience) }, patience),
    settleHold: async (end) => announced(await holdEnds.submit(traceable(end))).changed,
    reserveCapture: (capturing) => captures.submit(capturing, capturing.patience),
    settleCapture: async (end) => {
      const { changed, books } = announced(await captureEnds.submit(traceable(end)));
      return changed ? books : undefined;
    },
    reserve: (reserving) => reservations.submit(reserving, reserving.patience),
    end: async (ending) => announced(await ends.submit(ending)),
    insertOct: (oct, patience) => octs.submit({ ...oct, deadline: deadlineOf(patience) }, patience),
    settleOct: async (end) => announced(await octEnds.submit(traceable(end))).changed,
    markUnknown: (table, requestId, inquireAt, expectedBy) =>
      markUnknown(database.query, table, requestId, inquireAt, expectedBy ?? null),
    postponeInquiry: (table, requestId, at, expectedBy) =>
      postponeInquiry(database.query, table, requestId, at, expectedBy ?? null),
    markNeedsReview: (table, requestId) => markNeedsReview(database.query, table, requestId),
  };
}

/** Converts the answer to a repeated insertion whose first result was lost. */
function storedBefore(insertion: Insertion): Insertion {
  if (insertion.outcome === 'LATE') throw new ResultLost('the result is not known');
  return insertion.outcome === 'REPEATED' ? { ...insertion, outcome: 'RESUMED' } : insertion;
}

/** The same for a reservation. A refusal is not final, because the first statement may still be running. */
function reservedBefore(reservation: Reservation): Reservation {
  if (reservation.reserved || reservation.refusal === 'KEY_TAKEN') return reservation;
  const { refusal, hold } = reservation;
  if (refusal === 'REPEATED' && hold) return { reserved: true, hold, processorRequestId: null, resumed: true };
  throw new ResultLost('the result is not known');
}

/** Gathered ends run outside their callers' context, so each carries its trace. */
function traceable<Ending extends End>(end: Ending): Ending {
  return { ...end, traceParent: traceParent() };
}

/** Commands with a statement each. */
function each<Command, Answer>(batch: readonly Command[], run: (command: Command) => Promise<Answer>) {
  return Promise.all(batch.map(run));
}

/**
 * Stores new operations. Two statements in flight keep the disk busy while the next one is planned. A command that has waited for 5 s is
 * refused, so that its caller can try again.
 */
const INTENT = {
  maxBatch: 256,
  lanes: 2,
  inParts: true,
  maxWaitMs: 5_000,
  // Another session is inserting the same idempotency key.
  isAboutOne: (error: unknown) => isAboutOneRow(error) || isLockTimeout(error),
};
/**
 * Ends operations. Statements that append to the operation log wait for its lock, so a second one in flight would gain nothing. An end is
 * tried several times; then the caller gets 202, and recovery stores the result.
 */
const END = { maxBatch: 256, lanes: 1, inParts: true, maxWaitMs: 5_000, isPassing: isDatabaseAway };
/** Rare commands have a statement each; this many run at once. */
const ONE_EACH = { maxBatch: 1, lanes: 4 };
/** Maximum captures of one hold that wait: a fraction of a second's work. */
const MAX_PER_HOLD = 32;
