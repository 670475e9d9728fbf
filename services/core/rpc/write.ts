/** What all writes of money have in common: a name drawn before anything happens, and an answer that agrees with what is stored. */
import { v7 as uuidv7 } from 'uuid';
import { ResultLost } from '../../../platform/gather.ts';
import { errorFields } from '../../../platform/log.ts';
import type { Insertion } from '../books/reservation.ts';
import { type Approved, isOk } from '../domain/operation.ts';
import { HoldfastError, type RefusalCode } from '../domain/refusal.ts';
import type { Asked } from '../kinds/ask.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import type { NotStored } from '../storage/operation/store-submissions.ts';
import type { Core } from './core.ts';
import { exceedsHold, invalidField, processorRefusal, refusalOf, tooLate } from './refuse.ts';

/** The requestId of the operation that a call makes: the caller's, or a new one. */
export function requestIdOf(request: { readonly operationRequestId?: string | undefined }): string {
  return request.operationRequestId ?? uuidv7();
}

/** What became of storing an intent; the hold, where the intent is about one that was found. */
export type Storing<Stored> =
  | ({ readonly reserved: true } & Stored)
  | { readonly reserved: false; readonly refusal: RefusalCode | NotStored; readonly hold?: HoldRow | undefined };

/** Names a processor, as rows do. */
type Place = { readonly processor: string };

/** A call that writes money. */
export interface Write<Stored, Answer> {
  readonly requestId: string;
  /** Stores the intent; rejects as Books says. */
  store(): Promise<Storing<Stored>>;
  /** Whether what is stored under the requestId came of this very call. */
  isSame(hold: HoldRow | undefined): Promise<boolean>;
  /** Whether the processor may be sent something new; absent = it is about something that is there. */
  admits?(): boolean;
  /** Where it is sent, when that is known before it is stored; else where its hold was placed. */
  readonly place?: Place;
  /** The requestId that the idempotency key of the call belongs to. */
  findKept(): Promise<string | undefined>;
  /** Sends the stored intent to the processor. */
  perform(stored: Stored): Promise<Answer>;
  /** The answer of a stored operation, from what was written once. */
  replay(requestId: string, replayed: boolean): Promise<Answer>;
  /** The answer while the outcome is not known. */
  unknown(hold: HoldRow | undefined): Answer;
}

/**
 * Answers a write: stores its intent, performs it, and repeats the first answer to a call that was stored before. Once the intent is
 * stored only its own result is an error: whatever else goes wrong, the processor may have performed it, and recovery finds out. While
 * too many wait for the processor, something new is refused before it is stored; what is about a hold is stored and sent, and answered as
 * unknown at once.
 * Errors: UNAVAILABLE when the deadline of the call was over, INVALID_REQUEST when its requestId names another operation, refusals.
 */
export async function answerWrite<Stored extends { readonly hold?: HoldRow | undefined }, Answer>(
  core: Core,
  write: Write<Stored, Answer>,
): Promise<Answer> {
  const { place } = write;
  if (!write.admits) return storeAndPerform(core, write, (stored, perform) => inRoom(core, place ?? stored, perform));
  if (!write.admits()) return answerUnsent(core, write);
  const answer = () => storeAndPerform(core, write, (_, perform) => perform());
  return place ? core.processors.of(place).callers.wait(answer) : answer();
}

/** Runs a stored call; undefined = it goes on without its caller, because too many wait for that processor already. */
function inRoom<Answer>(core: Core, place: Place | undefined, perform: () => Promise<Answer>) {
  return place ? core.processors.of(place).callers.waitOrLeave(perform) : perform();
}

async function storeAndPerform<Stored extends { readonly hold?: HoldRow | undefined }, Answer>(
  core: Core,
  write: Write<Stored, Answer>,
  run: (stored: Place | undefined, perform: () => Promise<Answer>) => Promise<Answer> | undefined,
): Promise<Answer> {
  const { requestId } = write;
  const storing = await orLost(write.store());
  if (storing === 'LOST') return write.unknown(undefined);
  if (storing.reserved) {
    const { hold } = storing;
    const isOwn = (refusal: HoldfastError) => refusal.details.requestId === requestId;
    const perform = () => orUnknown(core, write, hold, () => write.perform(storing), isOwn);
    return (await run(hold, perform)) ?? write.unknown(hold);
  }
  const { refusal, hold } = storing;
  if (refusal === 'LATE') throw tooLate();
  if (refusal === 'REPEATED') {
    const repeat = async () => {
      if (!(await write.isSame(hold))) throw invalidField('operation_request_id', 'names another operation already');
      return write.replay(requestId, false);
    };
    return orUnknown(core, write, hold, repeat, () => true);
  }
  const kept = await write.findKept();
  if (kept !== undefined) return write.replay(kept, true);
  if (refusal === 'AMOUNT_EXCEEDS_HOLD' && hold) throw exceedsHold(hold);
  throw refusalOf(refusal === 'KEY_TAKEN' ? 'CAPTURE_IN_FLIGHT' : refusal);
}

/** A new row; resumed = what is stored may be another core's. */
export interface Inserted {
  readonly resumed: boolean;
  /** Its identifier at the processor; null = its requestId. */
  readonly processorRequestId: string | null;
  readonly hold?: undefined;
}

/** The answer while the processor does not answer: of what is stored already, or a refusal. Nothing is stored. */
async function answerUnsent<Stored, Answer>(core: Core, write: Write<Stored, Answer>): Promise<Answer> {
  if (await write.isSame(undefined)) return write.replay(write.requestId, false);
  const kept = await write.findKept();
  if (kept !== undefined) return write.replay(kept, true);
  const { processor = '' } = write.place ?? {};
  core.metrics.processorRefused(core.processors.nameOf(processor) ?? processor);
  const message = 'the card processor does not answer, or too many calls wait for it; nothing was stored';
  throw new HoldfastError('UNAVAILABLE', message, { retryAfterS: 2 });
}

/** A reservation that was made; processorRequestId null = its requestId. */
export interface Reserved {
  readonly hold: HoldRow;
  readonly processorRequestId: string | null;
}

/** What inserting says, as storing says it. */
export async function inserted(insertion: Promise<Insertion>): Promise<Storing<Inserted>> {
  const { outcome, processorRequestId } = await insertion;
  const reserved = outcome === 'STORED' || outcome === 'RESUMED';
  return reserved ? { reserved, resumed: outcome === 'RESUMED', processorRequestId } : { reserved, refusal: outcome };
}

/**
 * Answers what was asked of the processor. Errors: the refusal of a KO operation. What was overtaken by recovery or an event is
 * answered as it was stored.
 */
export async function answerAsked<Settled, Answer>(
  { requestId, replay, unknown }: Pick<Write<never, Answer>, 'requestId' | 'replay' | 'unknown'>,
  asked: Asked<Settled>,
  hold: HoldRow | undefined,
  approved: (outcome: Approved, ended: { readonly settled: Settled; readonly at: Date }) => Answer | Promise<Answer>,
): Promise<Answer> {
  if (asked.is === 'UNKNOWN') return unknown(hold);
  if (asked.is !== 'ENDED') return replay(requestId, false);
  if (!isOk(asked.outcome)) throw processorRefusal(requestId, asked.outcome, false);
  return approved(asked.outcome, asked);
}

async function orLost<Outcome>(storing: Promise<Outcome>): Promise<Outcome | 'LOST'> {
  try {
    return await storing;
  } catch (error) {
    if (error instanceof ResultLost) return 'LOST';
    throw error;
  }
}

async function orUnknown<Answer>(
  core: Core,
  { requestId, unknown }: Pick<Write<never, Answer>, 'requestId' | 'unknown'>,
  hold: HoldRow | undefined,
  answer: () => Promise<Answer>,
  mayBeThrown: (refusal: HoldfastError) => boolean,
): Promise<Answer> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof HoldfastError && mayBeThrown(error)) throw error;
    core.log.error('result_not_stored', { requestId, ...errorFields(error) });
    return unknown(hold);
  }
}
