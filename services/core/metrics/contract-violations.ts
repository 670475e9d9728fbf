import type { Log } from '../../../platform/log.ts';
import type { ContractViolation } from '../processor/contract-breaches.ts';
import type { Metrics } from './core-metrics.ts';

/** Counts and logs what breaks the contract of processors: the processor and the field, never the value. */
export function contractViolations(metrics: Pick<Metrics, 'contractViolation'>, log: Log) {
  return (processor: string, { method, field, requestId }: ContractViolation): void => {
    metrics.contractViolation(processor, method, field);
    log.error('contract_violation', { processor, method, field, requestId });
  };
}
