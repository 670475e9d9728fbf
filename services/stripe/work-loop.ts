import { errorFields, type Log } from '../../platform/log.ts';

/** Work that is looked for from time to time, and at once when it is known to be there. */
export interface WorkLoop {
  /** There may be work: looks soon. */
  wake(): void;
  /** Does what is due now; waits for a run that is under way first. */
  runOnce(): Promise<void>;
  /** Lets a run end; none follows. */
  close(): Promise<void>;
}

/** Runs `work` every `everyMs`, one run at a time. A run that fails is logged; the next one comes as usual. */
export function startWorkLoop(name: string, everyMs: number, work: () => Promise<void>, log: Log): WorkLoop {
  let running: Promise<void> = Promise.resolve();
  let isDue = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const run = () => {
    isDue = false;
    running = running.then(work).catch((error) => log.error('job failed', { job: name, ...errorFields(error) }));
    return running;
  };
  const plan = (delayMs: number) => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => void run().then(() => plan(isDue ? 0 : everyMs)), delayMs);
  };
  plan(everyMs);
  return {
    wake() {
      if (isDue || closed) return;
      isDue = true;
      plan(0);
    },
    runOnce: run,
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
