import type { Log } from '../../../platform/log.ts';
import type { ContractViolation } from '../processor/contract-breaches.ts';
import type { Processor } from '../processor/processor.ts';
import type { Metrics } from './core-metrics.ts';

/** Wraps a processor: its calls are timed and counted by their answers. */
export function measuredProcessor(
  processor: Processor,
  name: string,
  metrics: Pick<Metrics, 'processorCall' | 'watchProcessor'>,
): Processor {
  metrics.watchProcessor(name, processor);
  const measured = async <T>(call: string, answer: Promise<T>, word: (answer: T) => string): Promise<T> => {
    const startedMs = performance.now();
    const answered = await answer;
    metrics.processorCall(name, call, word(answered), performance.now() - startedMs);
    return answered;
  };
  const outcome = ({ answer }: { answer: string }) => answer;
  return {
    ...processor,
    send: (method, request) => measured(snakeCase(method), processor.send(method, request), outcome),
    createCheckout: (checkout) =>
      measured('create_checkout', processor.createCheckout(checkout), (page) => {
        if (!page) return 'UNKNOWN';
        return 'refusal' in page ? page.refusal.answer : 'APPROVED';
      }),
    inquire: (submission) =>
      measured('inquire', processor.inquire(submission), ({ found }) => (found === 'NO_ANSWER' ? 'UNKNOWN' : found)),
  };
}

/** A metric's label, from a method's name. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Counts and logs what breaks the contract of processors: the processor and the field, never the value. */
export function contractViolations(metrics: Pick<Metrics, 'contractViolation'>, log: Log) {
  return (processor: string, { method, field, requestId }: ContractViolation): void => {
    metrics.contractViolation(processor, method, field);
    log.error('contract_violation', { processor, method, field, requestId });
  };
}
