/** The common course of all calls that make an operation. */

import assert from 'node:assert/strict';
import type { HandlerContext } from '@connectrpc/connect';
import { drawId, drawnAt } from '../../../platform/draw-id.ts';
import { ResultLost } from '../../../platform/gather.ts';
import type { StoreRequest } from '../books/books.ts';
import type { Stored } from '../books/submission-request.ts';
import { isOk } from '../domain/outcome.ts';
import { HoldfastError } from '../domain/refusal.ts';
import { type Performed, perform, type SettledNow } from '../kinds/perform.ts';
import { callOverAt } from '../processor/processor.ts';
import type { WrittenHold } from '../storage/hold/hold-row.ts';
import { ID_AGE_MS } from '../storage/id-bounds.ts';
import { type Answer, answerKnown, answerStored, type First, logNotStored } from './answer-stored.ts';
import type { Core } from './core.ts';
import { findFirst, findFirstUnstored } from './first-call.ts';
import type { Call } from './idempotency.ts';
import { invalidField, outcomeUnknown, processorRefusal } from './refuse.ts';
import { patienceKey } from './server/call-patience.ts';

/** The common fields of every request: its name, the caller's or a new one, its time, and the caller's patience. */
export function requestOf(
  core: Core,
  request: { readonly operationRequestId?: string | undefined },
  context: HandlerContext,
) {
  const at = core.clock();
  const requestId = request.operationRequestId ?? drawId();
  return { requestId, at, inquireAt: callOverAt(core.processors, at), patience: context.values.get(patienceKey) };
}

/**
 * The refusal of a new operation whose requestId was not drawn about now; undefined = it was, or core drew it. Lists by
 * time find operations by when their requestId was drawn. A repetition of a call is not refused, however late it is.
 */
export function refuseStrayId({ operationRequestId }: { readonly operationRequestId?: string | undefined }) {
  if (operationRequestId === undefined) return undefined;
  // Callers draw by the machine's clock, which no test replaces.
  const aheadMs = drawnAt(operationRequestId).getTime() - Date.now();
  if (aheadMs <= ID_AHEAD_MS && aheadMs >= -ID_AGE_MS) return undefined;
  return invalidField(
    'operation_request_id',
    "was drawn more than 24 hours ago, or 10 minutes in the future, by this core's clock: draw another, or set the clock",
  );
}

const ID_AHEAD_MS = 10 * 60_000;

/** A call that makes an operation. */
export interface Write<A> {
  readonly call: Call;
  readonly request: StoreRequest;
  /** Why nothing new is stored for it; undefined = it may be. */
  readonly refusal?: HoldfastError | undefined;
  /** The destination, when it is known before storing: nothing is stored while that processor does not answer. */
  readonly processor?: string | undefined;
  /** Compares the call with the operation of its key, as claimed or imported; `hold` is that operation's. */
  readonly agrees: (requestId: string, hold: WrittenHold | undefined) => Promise<boolean>;
  /** The hold that it is on, when that is known before it is stored. */
  readonly hold?: WrittenHold | undefined;
  readonly answers: Answers<A>;
}

/** The answers of a call: about an operation stored before, about its own, and while the outcome is unknown. */
export interface Answers<A> {
  readonly first: (first: First, hold: WrittenHold | undefined) => Promise<A & { replayed?: boolean }>;
  readonly now: (done: Done) => A | Promise<A>;
  readonly unknown: (requestId: string, hold: WrittenHold | undefined) => A;
}

type Done = SettledNow | Extract<Performed, { is: 'OPENED' }>;

/** The answers about a submission. */
export function answersOf<A extends object>(
  core: Core,
  { present, unknown }: Pick<Answer<A>, 'present'> & Pick<Answers<A>, 'unknown'>,
): Answers<A> {
  return {
    first: (first, hold) => answerStored(core, first, { present, unknown: (requestId) => unknown(requestId, hold) }),
    now(done) {
      assert(done.is === 'SETTLED' && done.submission, 'what is settled was written');
      return present(done.submission, done.before);
    },
    unknown,
  };
}

/**
 * Makes the operation of a call, or finds the one that it made before: stores, sends, settles. Throws the refusal of
 * the call, of the books or of the processor; rejects as Books says when nothing was stored.
 */
export async function write<A extends object>(core: Core, asked: Write<A>): Promise<A & { replayed?: boolean }> {
  const { call, refusal, agrees, hold, answers } = asked;
  const { merchantId = '' } = call;
  const processor = asked.processor === undefined ? undefined : core.processors.of({ processor: asked.processor });
  if (refusal || processor?.admits(merchantId) === false) {
    const refuse = () => refusal ?? processorAway(core, asked.processor ?? '');
    return answers.first(await findFirstUnstored(core, call, refuse, (requestId) => agrees(requestId, hold)), hold);
  }
  return processor ? processor.callers.run(merchantId, () => performCall(core, asked)) : performCall(core, asked);
}

async function performCall<A extends object>(core: Core, asked: Write<A>): Promise<A & { replayed?: boolean }> {
  const { call, request, agrees, answers } = asked;
  const { requestId } = call;
  let { hold } = asked;
  let first: First = { requestId, replayed: false };
  const isNew = async (stored: Stored) => {
    hold = stored.hold ?? hold;
    const before = await findFirst(core, call, stored, (id) => agrees(id, hold));
    first = before ?? first;
    return before === undefined;
  };
  const inTurn = (send: () => Promise<Performed>) => {
    const sent = () => send().catch((error) => unknownBy(core, requestId, error));
    if (asked.processor !== undefined || !hold) return sent();
    return core.processors.of(hold).callers.runOrDetach(hold.merchantId, sent);
  };
  try {
    const done = await perform(core, request, { isNew, inTurn });
    if (done.is === 'UNKNOWN') return answers.unknown(requestId, hold);
    if (done.is !== 'SETTLED' && done.is !== 'OPENED') return answers.first(first, hold);
    if (done.is === 'SETTLED' && !isOk(done.outcome))
      throw processorRefusal({ requestId, kind: request.kind }, done.outcome);
    const unknown = () => answers.unknown(requestId, hold);
    return answerKnown(core, first, unknown, () => answers.now(done));
  } catch (error) {
    if (!(error instanceof ResultLost)) throw error;
    // Under a key another call may have made it, with a requestId of its own.
    if (call.claim.key !== undefined) throw outcomeUnknown(error);
    return answers.unknown(requestId, hold);
  }
}

/** Once it is stored, the processor may have acted, whatever fails: recovery inquires. */
function unknownBy(core: Core, requestId: string, error: unknown): { readonly is: 'UNKNOWN' } {
  logNotStored(core, requestId, error);
  return { is: 'UNKNOWN' };
}

/** The refusal of a new operation while its processor does not answer, or too many wait for it. */
export function processorAway({ metrics }: Core, processor: string): HoldfastError {
  metrics.processorRefused(processor);
  const message = 'the card processor does not answer, or too many calls wait for it; nothing was stored';
  return new HoldfastError('UNAVAILABLE', message, { retryAfterS: 2 });
}
