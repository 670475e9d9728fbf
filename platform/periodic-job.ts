import { errorFields, type Log } from './log.ts';

/** A job that runs at an interval. */
export interface PeriodicJob {
  readonly name: string;
  /** From the end of one run to the start of the next. */
  readonly intervalMs: number;
  runOnce(now: Date): Promise<unknown>;
}

/** Runs a job now and at every interval, one run at a time. A run that throws is logged and does not stop the next. */
export function runPeriodically(job: PeriodicJob, log: Log, clock: () => Date = () => new Date()) {
  const { name, intervalMs } = job;
  let closing = false;
  let isIdle = false;
  let isDue = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const attempt = async () => {
    try {
      await job.runOnce(clock());
    } catch (error) {
      log.error('job_failed', { job: name, ...errorFields(error) });
    }
  };
  const run = () => {
    running = running.then(attempt);
    return running;
  };
  const cycle = async () => {
    clearTimeout(timer);
    [isIdle, isDue] = [false, false];
    await run();
    if (closing) return;
    isIdle = true;
    timer = setTimeout(cycle, isDue ? 0 : intervalMs);
  };
  void cycle();
  return {
    /** There may be work: runs now, or once more after the current run. */
    wake() {
      if (closing) return;
      isDue = true;
      if (isIdle) void cycle();
    },
    /** Runs after the current run, and resolves when that has ended. */
    runOnce: run,
    /** Starts no further run; resolves when the current one has ended. */
    async close() {
      closing = true;
      clearTimeout(timer);
      await running;
    },
  };
}
