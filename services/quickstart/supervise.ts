/** Restarts a process that ends. */
import { once } from 'node:events';
import { settlesWithin } from '../../platform/settles-within.ts';
import type { Running } from './child.ts';

/** The process to keep running. */
interface Supervised<T extends Running> {
  readonly name: string;
  /** Starts it; rejects when that fails, and when the signal aborts, with nothing left running. */
  start(signal: AbortSignal): Promise<T>;
  /** Prints one line. */
  report(line: string): void;
}

/**
 * Starts a process, and starts it again whenever it ends: at once the first time, then with growing pauses. Rejects
 * when the first start fails. Returns what it started first, and a function that stops it for good.
 */
export async function supervise<T extends Running>(supervised: Supervised<T>, signal: AbortSignal) {
  const first = await supervised.start(signal);
  const stopping = new AbortController();
  const watched = watch(supervised, first, stopping.signal);
  const stop = async () => {
    stopping.abort();
    await watched;
  };
  return { first, stop };
}

async function watch({ name, start, report }: Supervised<Running>, first: Running, stopping: AbortSignal) {
  const stopped = once(stopping, 'abort').then(() => 'stopped');
  let running: Running | undefined = first;
  let reason = '';
  let failures = 0;
  for (let startedMs = Date.now(); ; startedMs = Date.now()) {
    if (running !== undefined) reason = `${name} ended (${await Promise.race([running.exited, stopped])})`;
    if (stopping.aborted) return running?.stop();
    failures = Date.now() - startedMs > STEADY_MS ? 1 : failures + 1;
    const pauseMs = Math.min(MAX_PAUSE_MS, 125 * 2 ** failures);
    report(`${reason}; starting it again in ${pauseMs / 1000} s`);
    running = undefined;
    await settlesWithin(pauseMs, stopped);
    if (stopping.aborted) return;
    try {
      running = await start(stopping);
      report(`${name} runs again`);
    } catch (error) {
      reason = (error as Error).message;
    }
  }
}

/** After running this long, a process starts again with a short pause. */
const STEADY_MS = 60_000;
const MAX_PAUSE_MS = 15_000;
