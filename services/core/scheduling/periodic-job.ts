import { errorFields, type Log } from '../../../platform/log.ts';
import { type Clock, systemClock } from '../clock.ts';

/** A job that runs at an interval. */
export interface PeriodicJob {
  readonly name: string;
  /** From the end of one run to the start of the next. */
  readonly intervalMs: number;
  runOnce(now: Date): Promise<unknown>;
}

/** A job that has been started. */
export interface RunningJob {
  /** Starts no further run; resolves when the current one has ended. */
  close(): Promise<void>;
}

/** Runs a job now and at every interval, one run at a time. A run that throws is logged and does not stop the next. */
export function runPeriodically(job: PeriodicJob, log: Log, clock: Clock = systemClock): RunningJob {
  const { name } = job;
  let closing = false;
  let wake = Promise.withResolvers<void>();
  const loop = async () => {
    while (!closing) {
      wake = Promise.withResolvers();
      try {
        await job.runOnce(clock());
      } catch (error) {
        log.error('job_failed', { job: name, ...errorFields(error) });
      }
      if (closing) return;
      const timer = setTimeout(() => wake.resolve(), job.intervalMs);
      await wake.promise;
      clearTimeout(timer);
    }
  };
  const ended = loop();
  return {
    close() {
      closing = true;
      wake.resolve();
      return ended;
    },
  };
}
