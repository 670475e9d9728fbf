import assert from 'node:assert/strict';
import type { Stored, SubmissionRequest } from '../books/submission-request.ts';
import type { HoldfastError } from '../domain/refusal.ts';
import type { SubmissionFacts } from '../kinds/facts.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { Core } from './core.ts';
import type { Call } from './idempotency.ts';
import {
  type Answer,
  agreesWith,
  answerStored,
  demandOwnResult,
  findFirst,
  findFirstUnstored,
  processorAway,
  sendAndSettle,
  storedOrLost,
} from './write.ts';

/** What is sent, and what its call answers. */
export interface Making<A> extends Answer<A> {
  /** Its amount, and its identifier at the processor, are those that are stored. */
  readonly facts: Omit<SubmissionFacts, 'amount' | 'processorRequestId'>;
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
  const { facts } = making;
  const agrees = agreesWith(core, call, isSame);
  const processor = core.processors.of(facts);
  if (refusal || !processor.admits(facts.merchantId)) {
    const refuse = () => refusal ?? processorAway(core, facts.processor);
    return answerStored(core, await findFirstUnstored(core, call, refuse, agrees), making);
  }
  return processor.callers.wait(facts.merchantId, async () => {
    const stored = await storedOrLost(call, core.books.store(call));
    if (stored === 'LOST') return making.unknown(call.requestId);
    const first = await findFirst(core, call, stored, agrees);
    return first ? answerStored(core, first, making) : sendStored(core, stored, making);
  });
}

/** Sends what was stored, settles it, and answers what is stored then. Throws the refusal of the processor. */
export async function sendStored<A extends object>(core: Core, stored: Stored, making: Making<A>): Promise<A> {
  const { facts } = making;
  const { requestId } = facts;
  try {
    const { processorRequestId, amount } = stored;
    assert(amount !== undefined, 'what is stored has an amount');
    const settled = await sendAndSettle(core, { ...facts, processorRequestId, amount });
    if (settled.is === 'UNKNOWN') return making.unknown(requestId);
    return await answerStored(core, { requestId, replayed: false }, making);
  } catch (error) {
    demandOwnResult(core, requestId, error);
    return making.unknown(requestId);
  }
}
