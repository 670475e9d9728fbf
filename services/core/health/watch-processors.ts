import type { Log } from '../../../platform/log.ts';
import { runPeriodically } from '../../../platform/periodic-job.ts';
import type { Processors } from '../processor/processors.ts';

/**
 * Asks processors for their health while nobody calls them, so that a frozen one is noticed on a quiet night, within
 * about 15 s. Each is asked separately: a silent one delays no other.
 */
export function watchProcessors({ names, of }: Pick<Processors, 'names' | 'of'>, log: Log) {
  const jobs = names.map((processor) => {
    const runOnce = () => of({ processor }).askWhenSilent();
    return runPeriodically({ name: 'ask-processor', intervalMs: INTERVAL_MS, runOnce }, log);
  });
  return {
    async close() {
      await Promise.all(jobs.map((job) => job.close()));
    },
  };
}

const INTERVAL_MS = 1_000;
