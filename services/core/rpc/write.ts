/** What all writes of money have in common: an intent that is stored before it is sent, and answers that agree with what is stored. */
import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { ResultLost } from '../../../platform/gather.ts';
import { errorFields } from '../../../platform/log.ts';
import type { Insertion } from '../books/reservation.ts';
import type { SubmissionState } from '../domain/kinds.ts';
import { type Approved, isOk } from '../domain/operation.ts';
import { HoldfastError, type RefusalCode } from '../domain/refusal.ts';
import type { Asked } from '../kinds/ask.ts';
import type { KeyInput } from '../storage/claim/claim.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import type { NotStored } from '../storage/operation/store-submissions.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import type { Core } from './core.ts';
import { agreeing, type Fields, findKeptOperation, fingerprintOf } from './idempotency.ts';
import { drawnAt } from './ids.ts';
import { exceedsHold, invalidField, keptRefusal, processorRefusal, reconciling, refusalOf, tooLate } from './refuse.ts';

/** The requestId of the operation that a call makes: the caller's, or a new one. */
export function requestIdOf(request: { readonly operationRequestId?: string | undefined }): string {
  return request.operationRequestId ?? uuidv7();
}

/** A stored operation of any kind. */
interface Submission {
  readonly processorRequestId?: string | null | undefined;
  readonly state: SubmissionState;
  readonly inquireAt?: Date | null | undefined;
  readonly inquiryCount: number;
}

/** A stored intent; the hold, when it is about one that was there. */
interface Stored {
  readonly hold?: HoldRow | undefined;
  /** Its identifier at the processor; null = its requestId. */
  readonly processorRequestId: string | null;
  /** A statement whose result was lost stored it, or another call with its requestId, maybe at another core. */
  readonly resumed?: boolean | undefined;
}

/** A reservation that was made. */
export interface Reserved extends Stored {
  readonly hold: HoldRow;
}

/** The outcome of storing an intent. */
type Storing<Made extends Stored> =
  | ({ readonly reserved: true } & Made)
  | { readonly reserved: false; readonly refusal: RefusalCode | NotStored; readonly hold?: HoldRow | undefined };

/** The answer of an intent that was performed. STORED = from what is stored by now; UNKNOWN = while the outcome is not known. */
type Performed<Answer> = Answer | 'STORED' | 'UNKNOWN';

/** A call that writes money. */
export interface Write<Row extends Submission, Made extends Stored, Answer extends object> {
  readonly requestId: string;
  readonly key: KeyInput | undefined;
  /** Whose key it is; undefined = the merchant's whose hold it is about. */
  readonly merchantId: string | undefined;
  /** Stores the intent; rejects as Books says. */
  store(): Promise<Storing<Made>>;
  /** Sends the stored intent to the processor. Throws the refusal of a KO operation. */
  perform(made: Made): Promise<Performed<Answer>>;
  /** Finds a stored operation of this kind. */
  find(requestId: string): Promise<Row | undefined>;
  /** Whether the operation that is stored under the requestId came of this very call. */
  isSame(row: Row, hold: HoldRow | undefined): boolean;
  /** Whether an operation that was imported from the processor's books, without its key, is what the call asks for. */
  agrees(row: Row, hold: HoldRow | undefined): boolean;
  /** The answer from what was written once, for an operation that is not KO. */
  answerOf(row: Row): Answer | Promise<Answer>;
  /** The answer while the outcome is not known. */
  unknown(hold: HoldRow | undefined): Answer;
}

/** A call for a new hold or OCT. */
export interface NewWrite<Row extends Submission, Answer extends object>
  extends Omit<Write<Row, Stored, Answer>, 'store' | 'isSame' | 'agrees'> {
  readonly merchantId: string;
  /** Where it is sent. */
  readonly place: { readonly processor: string };
  /** The business fields of the call. */
  readonly fields: Fields;
  /** The business fields of a stored operation. */
  fieldsOf(row: Row): Fields;
  /** Throws when the contract does not allow the call. */
  check(): void;
  insert(): Promise<Insertion>;
}

/**
 * Answers a call for something new. While the processor does not answer, or too many wait for it, the call is rejected before it is stored.
 * A repetition that the contract would not allow any more gets the first answer.
 */
export async function answerNew<Row extends Submission & { readonly merchantId: string }, Answer extends object>(
  core: Core,
  call: NewWrite<Row, Answer>,
): Promise<Answer> {
  const { fields, fieldsOf, merchantId, place } = call;
  const writing = new Writing<Row, Stored, Answer>(core, {
    ...call,
    store: () => inserted(call.insert()),
    isSame: (row) => row.merchantId === merchantId && fingerprintOf(fieldsOf(row)) === fingerprintOf(fields),
    agrees: (row) => agreeing(fieldsOf(row), fields),
  });
  try {
    call.check();
  } catch (refusal) {
    return writing.replayKept(undefined, () => refusal);
  }
  const processor = core.processors.of(place);
  if (!processor.admits()) return writing.answerUnsent(place.processor);
  return processor.callers.wait(() => writing.answer((perform) => perform()));
}

/** Answers a call about a hold. While too many wait for the processor, it is stored, sent, and answered as unknown at once. */
export function answerOnHold<Row extends Submission, Answer extends object>(
  core: Core,
  write: Write<Row, Reserved, Answer>,
): Promise<Answer> {
  const writing = new Writing(core, write);
  return writing.answer((perform, { hold }) => core.processors.of(hold).callers.waitOrLeave(perform));
}

/** How a submission that was sent is answered, once its result is stored: as `approved` says, or from what is stored. */
export function answerAsked<Settled, Answer>(
  requestId: string,
  asked: Asked<Settled>,
  approved?: (outcome: Approved, ended: { readonly settled: Settled; readonly at: Date }) => Answer,
): Performed<Answer> {
  if (asked.is === 'UNKNOWN') return 'UNKNOWN';
  // Recovery or an event has ended it meanwhile.
  if (asked.is !== 'ENDED') return 'STORED';
  if (!isOk(asked.outcome)) throw processorRefusal(requestId, asked.outcome, false);
  return approved ? approved(asked.outcome, asked) : 'STORED';
}

class Writing<Row extends Submission, Made extends Stored, Answer extends object> {
  readonly #core: Core;
  readonly #write: Write<Row, Made, Answer>;

  constructor(core: Core, write: Write<Row, Made, Answer>) {
    this.#core = core;
    this.#write = write;
  }

  /**
   * Stores the intent, performs it, and repeats the first answer to a call that was stored before. Once the intent is stored only its own
   * result is an error: whatever else goes wrong, the processor may have performed it, and recovery finds out. `run` returns undefined when
   * it does not wait for the answer. Throws UNAVAILABLE when the call's deadline was over, INVALID_REQUEST when its requestId names another
   * operation, refusals.
   */
  async answer(run: (perform: () => Promise<Answer>, made: Made) => Promise<Answer> | undefined): Promise<Answer> {
    const write = this.#write;
    const { requestId } = write;
    const storing = await orLost(write.store());
    if (storing === 'LOST') return write.unknown(undefined);
    const { hold } = storing;
    if (storing.reserved) {
      const isOwn = (refusal: HoldfastError) => storing.resumed || refusal.details.requestId === requestId;
      const perform = () => this.#orUnknown(hold, () => this.#perform(storing), isOwn);
      return (await run(perform, storing)) ?? write.unknown(hold);
    }
    const { refusal } = storing;
    if (refusal === 'LATE') throw tooLate();
    if (refusal === 'MAYBE_LOST') return this.replayKept(hold, reconciling);
    if (refusal === 'REPEATED')
      return this.#orUnknown(
        hold,
        () => this.#repeat(hold),
        () => true,
      );
    return this.replayKept(hold, () =>
      refusal === 'AMOUNT_EXCEEDS_HOLD' && hold
        ? exceedsHold(hold)
        : refusalOf(refusal === 'KEY_TAKEN' ? 'CAPTURE_IN_FLIGHT' : refusal),
    );
  }

  /** Answers while the processor does not answer: from what is stored already, or a refusal. Nothing is stored. */
  async answerUnsent(processor: string): Promise<Answer> {
    const { requestId, find, isSame } = this.#write;
    const row = await find(requestId);
    if (row && isSame(row, undefined)) return this.#replay(requestId, false);
    return this.replayKept(undefined, () => {
      this.#core.metrics.processorRefused(this.#core.processors.nameOf(processor) ?? processor);
      const message = 'the card processor does not answer, or too many calls wait for it; nothing was stored';
      return new HoldfastError('UNAVAILABLE', message, { retryAfterS: 2 });
    });
  }

  /**
   * The first answer of the operation that the call's key belongs to. Throws the refusal when the key is free, or there is none; but
   * RECONCILING while the operation may be lost.
   */
  async replayKept(hold: HoldRow | undefined, refusal: () => unknown): Promise<Answer> {
    const { key, merchantId = hold?.merchantId, find, agrees } = this.#write;
    const agreesWith = async (requestId: string) => {
      const row = await find(requestId);
      return row !== undefined && agrees(row, hold);
    };
    const kept = key && merchantId && (await findKeptOperation(this.#core, merchantId, key, agreesWith));
    if (kept) return this.#replay(kept, true);
    throw (await this.#maybeLost()) ? reconciling() : refusal();
  }

  /** Whether the call may repeat one that the database has lost. */
  async #maybeLost(): Promise<boolean> {
    const { key, requestId } = this.#write;
    const since = await reconcilingSince(this.#core.database.query);
    return since !== undefined && (key !== undefined || drawnAt(requestId) < since);
  }

  async #perform(made: Made): Promise<Answer> {
    const { requestId, perform, unknown } = this.#write;
    const sent = made.resumed ? { ...made, processorRequestId: await this.#resume(made.hold) } : made;
    const performed = await perform(sent);
    if (performed === 'UNKNOWN') return unknown(made.hold);
    return performed === 'STORED' ? this.#replay(requestId, false) : performed;
  }

  /** The answer to a call that was stored before, maybe by a try whose result was lost. */
  async #repeat(hold: HoldRow | undefined): Promise<Answer> {
    await this.#findSame(hold);
    return this.#replay(this.#write.requestId, false);
  }

  /** The identifier at the processor of what is stored already, which this call goes on with. */
  async #resume(hold: HoldRow | undefined): Promise<string | null> {
    return (await this.#findSame(hold)).processorRequestId ?? null;
  }

  /** What is stored under the requestId. Throws when another call stored it. */
  async #findSame(hold: HoldRow | undefined): Promise<Row> {
    const { requestId, find, isSame } = this.#write;
    const row = await find(requestId);
    if (row && isSame(row, hold)) return row;
    throw invalidField('operation_request_id', 'names another operation already');
  }

  /** The answer of a stored operation: each of its fields was written once, with its result. */
  async #replay(requestId: string, replayed: boolean): Promise<Answer> {
    const row = await this.#write.find(requestId);
    assert(row, 'an operation that is answered was stored');
    if (row.state === 'KO') throw await keptRefusal(this.#core, requestId, replayed);
    const { inquireAt, inquiryCount } = row;
    // It started, and recovery has not looked at it yet.
    const isRunning = inquiryCount === 0 && inquireAt != null && inquireAt > this.#core.clock();
    if (row.state !== 'PENDING' || !isRunning) return { ...(await this.#write.answerOf(row)), replayed };
    const message = 'the first call has no result yet; repeat it';
    throw new HoldfastError('IDEMPOTENCY_IN_FLIGHT', message, { requestId, retryAfterS: 1 });
  }

  async #orUnknown(
    hold: HoldRow | undefined,
    answer: () => Promise<Answer>,
    mayBeThrown: (refusal: HoldfastError) => boolean,
  ): Promise<Answer> {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof HoldfastError && mayBeThrown(error)) throw error;
      this.#core.log.error('result_not_stored', { requestId: this.#write.requestId, ...errorFields(error) });
      return this.#write.unknown(hold);
    }
  }
}

async function orLost<Outcome>(storing: Promise<Outcome>): Promise<Outcome | 'LOST'> {
  try {
    return await storing;
  } catch (error) {
    if (error instanceof ResultLost) return 'LOST';
    throw error;
  }
}

/** Converts the outcome of inserting to that of storing. */
async function inserted(insertion: Promise<Insertion>): Promise<Storing<Stored>> {
  const { outcome, processorRequestId } = await insertion;
  const reserved = outcome === 'STORED' || outcome === 'RESUMED';
  return reserved ? { reserved, resumed: outcome === 'RESUMED', processorRequestId } : { reserved, refusal: outcome };
}
