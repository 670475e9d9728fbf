import type { Log } from '../../../platform/log.ts';
import { runPeriodically } from '../../../platform/periodic-job.ts';
import type { Processors } from '../processor/processors.ts';

/**
 * Asks processors how they are while nobody calls, so that one that is frozen is noticed on a quiet night, too: within
 * about a quarter of a minute. Each is asked by itself: one that does not answer delays no other.
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
