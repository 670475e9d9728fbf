import type { Stored, SubmissionRequest } from '../books/submission-request.ts';
import type { HoldfastError } from '../domain/refusal.ts';
import type { SubmissionFacts } from '../kinds/facts.ts';
import { send } from '../kinds/send-to-processor.ts';
import { settle } from '../kinds/settle-outcome.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { Core } from './core.ts';
import type { Call } from './idempotency.ts';
import {
  agreesWith,
  answerStored,
  demandOk,
  demandOwnResult,
  findFirst,
  findFirstUnstored,
  processorAway,
  sentAs,
  storedAmount,
  storedOrLost,
} from './write.ts';

/** What is sent, and what its call answers. */
export interface Making<A> {
  /** Its amount, and its identifier at the processor, are those that are stored. */
  readonly facts: Omit<SubmissionFacts, 'amount' | 'processorRequestId'>;
  /** The answer when it is done. */
  readonly present: (row: SubmissionRow) => A | Promise<A>;
  /** The answer while its outcome is not known. */
  readonly unknown: (requestId: string) => A;
}

/**
 * Makes an operation that needs its processor: stored first, then sent, then settled. Nothing is stored while the
 * processor does not answer, or when the call has a `refusal`. `isSame` compares the call with an operation that was
 * stored before.
 */
export async function makeOperation<A extends object>(
  core: Core,
  call: Call & SubmissionRequest,
  refusal: HoldfastError | undefined,
  isSame: (row: SubmissionRow) => boolean,
  making: Making<A>,
): Promise<A> {
  const { facts, present, unknown } = making;
  const agrees = agreesWith(core, call.kind, isSame);
  const processor = core.processors.of(facts);
  if (refusal || !processor.admits()) {
    const refuse = () => refusal ?? processorAway(core, facts.processor);
    const first = await findFirstUnstored(core, call, refuse, agrees);
    return answerStored(core, first, unknown(first.requestId), present);
  }
  return processor.callers.wait(async () => {
    const stored = await storedOrLost(core.books.store(call));
    if (stored === 'LOST') return unknown(call.requestId);
    const first = await findFirst(core, call, stored, agrees);
    if (first) return answerStored(core, first, unknown(first.requestId), present);
    return sendStored(core, stored, making);
  });
}

/** Sends what was stored, settles it, and answers what is stored then. Throws the refusal of the processor. */
export async function sendStored<A extends object>(
  core: Core,
  stored: Stored,
  { facts, present, unknown }: Making<A>,
): Promise<A> {
  const { requestId } = facts;
  try {
    const processorRequestId = await sentAs(core, requestId, stored);
    const whole = { ...facts, processorRequestId, amount: await storedAmount(core, requestId, stored) };
    const outcome = await send(core, whole);
    const settled = await settle(core, whole, outcome);
    if (settled.is === 'UNKNOWN') return unknown(requestId);
    if (settled.is === 'SETTLED') demandOk(requestId, outcome);
    return await answerStored(core, { requestId, replayed: false }, unknown(requestId), present);
  } catch (error) {
    demandOwnResult(core, requestId, error);
    return unknown(requestId);
  }
}
