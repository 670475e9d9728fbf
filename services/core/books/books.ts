import { traceParent } from '../../../proto/tracing.ts';
import type { HoldBooks } from '../domain/hold.ts';
import type { FinalOutcome } from '../domain/operation.ts';
import type { AttemptTable } from '../storage/attempts.ts';
import { markNeedsReview, markUnknown, postponeInquiry } from '../storage/attempts.ts';
import type { Database } from '../storage/database.ts';
import { type HoldInput, insertHolds } from '../storage/insert-holds.ts';
import { insertOcts, type OctInput } from '../storage/insert-octs.ts';
import { announceOperations, type OperationInput } from '../storage/operation-log.ts';
import { StatementGather } from '../storage/statement-gather.ts';
import { type Capturing, type Reservation, reserveGatheredCaptures } from './reserve-capture.ts';
import { type ReleaseReservation, type Releasing, reserveHoldRelease } from './reserve-release.ts';
import { type Reversing, reverse } from './reverse.ts';
import { type CaptureEnd, type CaptureEnded, settleGatheredCaptures } from './settle-capture.ts';
import { type HoldEnd, settleGatheredHolds } from './settle-hold.ts';
import { type OctEnd, settleGatheredOcts } from './settle-oct.ts';
import { settleHoldRelease } from './settle-release.ts';

/**
 * Makes deliveries known to the workers, and their results to whoever watches. The delivery's row is the truth, this is only its
 * alarm, rung after the commit. Never rejects.
 */
export type Ring = (deliveries: readonly { readonly id: string; readonly endpoint: string }[]) => Promise<void>;

/**
 * The books: every write of money, each in one transaction with all that it implies (state, operation, delivery). Concurrent
 * callers share commits. Nothing here calls a processor, so no transaction is ever open across the network.
 */
export interface Books {
  /** Stores a new hold. False = its idempotency key is taken. */
  insertHold(hold: HoldInput): Promise<boolean>;
  /** Ends the placing of a hold. False = it had ended before. */
  settleHold(end: HoldEnd): Promise<boolean>;
  reserveCapture(capturing: Capturing): Promise<Reservation>;
  /** Ends a capture. Answers the hold's books right after it; undefined = it had ended before. */
  settleCapture(end: CaptureEnd): Promise<HoldBooks | undefined>;
  reserveRelease(releasing: Releasing): Promise<ReleaseReservation>;
  /** Ends a release. False = it had ended before. */
  settleRelease(requestId: string, outcome: FinalOutcome, at: Date): Promise<boolean>;
  /** Stores a new OCT. False = its idempotency key is taken. */
  insertOct(oct: OctInput): Promise<boolean>;
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
  const holds = new StatementGather<HoldInput, boolean>((batch) => insertHolds(database.query, batch), {
    ...TWO_LANES,
    ...counted('hold'),
  });
  const holdEnds = new StatementGather<HoldEnd, Ended>((batch) => settleGatheredHolds(database, batch), {
    ...ONE_LANE,
    ...counted('hold_end'),
  });
  const captures = new StatementGather<Capturing, Reservation>((batch) => reserveGatheredCaptures(database, batch), {
    ...TWO_LANES,
    ...counted('capture'),
    keyOf: (capturing) => capturing.idHash.toString('hex'),
  });
  const captureEnds = new StatementGather<CaptureEnd, CaptureEnded>(
    (batch) => settleGatheredCaptures(database, batch),
    {
      ...ONE_LANE,
      ...counted('capture_end'),
      keyOf: (end) => end.holdRequestId,
    },
  );
  const octs = new StatementGather<OctInput, boolean>((batch) => insertOcts(database.query, batch), {
    ...TWO_LANES,
    ...counted('oct'),
  });
  const octEnds = new StatementGather<OctEnd, Ended>((batch) => settleGatheredOcts(database, batch), {
    ...ONE_LANE,
    ...counted('oct_end'),
  });
  const announcements = new StatementGather<null, null>((batch) => announced(database, batch), {
    maxBatch: 10_000,
    lanes: 1,
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
    insertHold: (hold) => holds.submit(hold),
    settleHold: async (end) => rung(await holdEnds.submit(traceable(end))),
    reserveCapture: (capturing) => captures.submit(capturing),
    settleCapture: async (end) => {
      const ended = await captureEnds.submit(traceable(end));
      return rung(ended) ? ended.books : undefined;
    },
    reserveRelease: (releasing) => reserveHoldRelease(database, releasing),
    settleRelease: async (requestId, outcome, at) => rung(await settleHoldRelease(database, requestId, outcome, at)),
    insertOct: (oct) => octs.submit(oct),
    settleOct: async (end) => rung(await octEnds.submit(traceable(end))),
    reverseCapture: async (reversing) => rung(await reverse(database, reversing)),
    markUnknown: (table, requestId, inquireAt) => markUnknown(database.query, table, requestId, inquireAt),
    postponeInquiry: (table, requestId, at) => postponeInquiry(database.query, table, requestId, at),
    markNeedsReview: (table, requestId) => markNeedsReview(database.query, table, requestId),
  };
}

/** Ends that are gathered leave their callers' context, so each takes its trace along. */
function traceable<End extends { readonly traceParent?: string | undefined }>(end: End): End {
  const parent = traceParent();
  return parent === undefined ? end : { ...end, traceParent: parent };
}

async function announced(database: Database, batch: readonly null[]): Promise<readonly null[]> {
  await announceOperations(database.query);
  return batch;
}

/** Two statements under way keep the disk busy while the next one is planned. */
const TWO_LANES = { maxBatch: 256, lanes: 2, inParts: true };
/** What appends to the operation log takes turns at its lock, so a second statement would only wait there. */
const ONE_LANE = { maxBatch: 256, lanes: 1, inParts: true };
