import type { Processor } from '../processor/processor.ts';
import type { Metrics } from './metrics.ts';

/** The same processor, its calls timed and counted by their answers. */
export function measuredProcessor(processor: Processor, metrics: Pick<Metrics, 'processorCall'>): Processor {
  const measured = async <T>(call: string, answer: Promise<T>, word: (answer: T) => string): Promise<T> => {
    const startedMs = performance.now();
    const answered = await answer;
    metrics.processorCall(call, word(answered), performance.now() - startedMs);
    return answered;
  };
  const outcome = ({ answer }: { answer: string }) => answer;
  return {
    ...processor,
    authorize: (hold) => measured('authorize', processor.authorize(hold), outcome),
    capture: (capture) => measured('capture', processor.capture(capture), outcome),
    void: (requestId, holdRequestId) => measured('void', processor.void(requestId, holdRequestId), outcome),
    credit: (oct) => measured('credit', processor.credit(oct), outcome),
    createCheckout: (checkout) =>
      measured('create_checkout', processor.createCheckout(checkout), (page) => (page ? 'APPROVED' : 'UNKNOWN')),
    inquire: (requestId) =>
      measured('inquire', processor.inquire(requestId), ({ found }) => (found === 'NO_ANSWER' ? 'UNKNOWN' : found)),
  };
}
