import { busyKeys, type CallerPatience, Gather, ResultLost } from '../../../platform/gather.ts';
import { traceParent } from '../../../platform/tracing.ts';
import type { Announce } from '../storage/announce.ts';
import type { Database } from '../storage/database.ts';
import { isAboutOneRow, isDatabaseAway, isLockTimeout } from '../storage/database-errors.ts';
import type { HoldInput } from '../storage/hold/insert-holds.ts';
import type { ReadHold } from '../storage/hold/read-holds.ts';
import type { ResultInput } from '../storage/operation/append-results.ts';
import { StatementGather } from '../storage/statement-gather.ts';
import { type Corrected, type Correcting, correct } from './correct.ts';
import { noticeExpiring } from './expiring.ts';
import type { HoldFacts, SubmissionFacts } from './facts.ts';
import { keyOf, LastWritten } from './last-written.ts';
import { type Settled, type Settlement, settleGathered, settleGatheredHolds } from './settle-gathered.ts';
import { type Renewal, storeGathered, storeGatheredHolds, storeGatheredRenewals } from './store-gathered.ts';
import { deadlineOf, type PlaceRequest, type Stored, type SubmissionRequest } from './submission-request.ts';
import { type TakenBack, type TakingBack, takeBack } from './take-back.ts';

/** Metrics of the books. */
export interface BooksObserver {
  ended(result: Pick<ResultInput, 'kind' | 'status' | 'statusInfo'>): void;
  /** The number of requests in one statement. */
  gathered(write: string, size: number): void;
}

export type Books = ReturnType<typeof openBooks>;

/**
 * Opens the books: the writes of money. Each is one statement with everything that follows from it (state, operation,
 * delivery) and commits by itself, so no transaction waits for this process or for a processor. Concurrent callers
 * share commits.
 *
 * A method that stores a new operation rejects with NotSent when nothing was stored and nothing will be (too many wait,
 * the caller's deadline has passed, the caller has disconnected), and with ResultLost when it may have been stored.
 */
export function openBooks(database: Database, announce: Announce, observer?: BooksObserver) {
  const lastWritten = new LastWritten();
  const counted = (write: string) => ({ onBatch: (size: number) => observer?.gathered(write, size) });
  const holds = new StatementGather<HoldInput, Stored>((batch) => storeGatheredHolds(database, batch), {
    ...STORE,
    ...counted('hold'),
    afterLoss: storedBefore,
  });
  const holdEnds = new StatementGather<Settlement<HoldFacts>, Settled>(
    (batch) => settleGatheredHolds(database, lastWritten, batch),
    { ...SETTLE, ...counted('hold_end'), keyOf: ({ facts }) => facts.requestId },
  );
  // A hold has one writer at a time in this process; the hold's version shows writes of other processes. When a hold
  // becomes free, ends come before new requests: otherwise a crowd at one hold would be charged faster than it is
  // answered.
  const writers = busyKeys();
  const ends = new StatementGather<Settlement<SubmissionFacts>, Settled>(
    (batch) => settleGathered(database, lastWritten, batch),
    {
      ...SETTLE,
      ...counted('submission_end'),
      keys: writers,
      keyOf: ({ facts }) => (facts.hold ? keyOf(facts.hold) : facts.requestId),
    },
  );
  const submissions = new StatementGather<SubmissionRequest, Stored>(
    (batch) => storeGathered(database, lastWritten, batch),
    {
      ...STORE,
      ...counted('submission'),
      maxPerKey: MAX_PER_HOLD,
      keys: writers,
      keyOf: (request) => (request.kind === 'OCT' ? request.requestId : keyOf(request)),
      afterLoss: storedBefore,
    },
  );
  const renewals = new StatementGather<OfHold<Renewal>, Stored>(
    (batch) =>
      storeGatheredRenewals(
        database,
        batch.map(({ write }) => write),
      ),
    { ...STORE, ...counted('renewal'), maxPerKey: MAX_PER_HOLD, keys: writers, keyOf, afterLoss: storedBefore },
  );
  const changes = new Gather<OfHold<() => Promise<unknown>>, PromiseSettledResult<unknown>>(
    (batch) => Promise.allSettled(batch.map(({ write }) => write())),
    { maxBatch: 1, lanes: 4, maxWaitMs: STORE.maxWaitMs, maxPerKey: MAX_PER_HOLD, keys: writers, keyOf },
  );
  const takings = new StatementGather<TakingBack, Exclude<Awaited<ReturnType<typeof takeBack>>, string>>(
    (batch) => Promise.all(batch.map((taking) => takeBack(database, taking))),
    {
      ...SETTLE,
      maxBatch: 1,
      lanes: 4,
      keyOf: ({ holdRequestId, subjectRequestId }) => holdRequestId ?? subjectRequestId ?? '',
    },
  );
  const corrections = new StatementGather<Correcting, Exclude<Awaited<ReturnType<typeof correct>>, string>>(
    (batch) => Promise.all(batch.map((correcting) => correct(database, correcting))),
    { ...SETTLE, maxBatch: 1, keyOf: ({ holdRequestId, correctsRequestId }) => holdRequestId ?? correctsRequestId },
  );
  const announced = (settled: Settled): Settled => {
    if (settled.changed && settled.result) observer?.ended(settled.result);
    if (settled.changed) announce(settled.endpoints);
    return settled;
  };
  // A gather runs outside its callers' contexts, so each request carries its trace.
  return {
    /** Judges a request and stores it. Submissions on a hold reserve their amount there. */
    store(request: StoreRequest): Promise<Stored> {
      const { patience } = request;
      if (request.kind !== 'HOLD') return submissions.submit(request, patience);
      const hold = { ...request.hold, deadline: deadlineOf(patience) };
      const { renews } = hold;
      const { renewedHash: idHash } = request;
      if (renews == null || !idHash) return holds.submit(hold, patience);
      return renewals.submit({ idHash, write: { ...hold, renews } }, patience);
    },
    /** Runs another write on a hold when its turn among the hold's writes has come. */
    async changeHold<T>(idHash: Buffer, write: () => Promise<T>, patience?: CallerPatience): Promise<T> {
      const settled = await changes.submit({ idHash, write }, patience);
      if (settled.status === 'rejected') throw settled.reason;
      return settled.value as T;
    },
    /** Ends a stored operation by its final outcome. */
    async settle(settlement: Settlement): Promise<Settled> {
      const { facts } = settlement;
      const ending = { ...settlement, imported: facts.imported, traceParent: traceParent() };
      return announced(
        await (facts.kind === 'HOLD' ? holdEnds.submit({ ...ending, facts }) : ends.submit({ ...ending, facts })),
      );
    },
    /** Books what came back of something that was OK, or was given again, once for its event. */
    async takeBack(taking: TakingBack): Promise<TakenBack> {
      const { became, settled } = await takings.submit({ ...taking, traceParent: traceParent() });
      announced(settled);
      return became;
    },
    /** Books that an operation ended otherwise than was told. */
    async correct(correcting: Correcting): Promise<Corrected> {
      const { corrected, settled } = await corrections.submit({ ...correcting, traceParent: traceParent() });
      announced(settled);
      return corrected;
    },
    /** Tells a merchant that a hold ends soon, once. */
    noticeExpiring: async (hold: ReadHold, at: Date) => announced(await noticeExpiring(database, hold, at)),
  };
}

/** A request: the placing of a hold, or a submission. */
export type StoreRequest = PlaceRequest | SubmissionRequest;

/** A write on the hold whose handle has this hash. */
interface OfHold<Write> {
  readonly idHash: Buffer;
  readonly write: Write;
}

/**
 * Converts the outcome of a repeated statement whose first result was lost. A refusal is not final: the first one may
 * still be running.
 */
function storedBefore(stored: Stored): Stored {
  if (FINAL.has(stored.outcome)) return stored;
  if (stored.outcome === 'REPEATED') return { ...stored, outcome: 'RESUMED' };
  throw new ResultLost('the result is not known');
}

/** The first statement is right about these outcomes: the currency of a hold never changes. */
const FINAL: ReadonlySet<Stored['outcome']> = new Set(['STORED', 'KEY_TAKEN', 'OTHER_CURRENCY']);

/**
 * Two statements in flight keep the disk busy while the next one is planned. What has waited for 5 s is refused, so
 * that its caller can try again.
 */
export const STORE = {
  maxBatch: 256,
  lanes: 2,
  inParts: true,
  maxWaitMs: 5_000,
  // Another session is inserting the same idempotency key.
  isAboutOne: (error: unknown) => isAboutOneRow(error) || isLockTimeout(error),
};
/**
 * Statements that append to the log of results wait for its lock, so a second one in flight would gain nothing. It is
 * tried several times; then the caller gets 202, and recovery settles.
 */
const SETTLE = { maxBatch: 256, lanes: 1, inParts: true, maxWaitMs: 5_000, isPassing: isDatabaseAway };
/** Maximum requests of one hold that wait: a fraction of a second's work. */
export const MAX_PER_HOLD = 32;
