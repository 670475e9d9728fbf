/** Keeping something running. */
import { once } from 'node:events';
import type { Running } from './child.ts';
import { settlesWithin } from './settles-within.ts';

/** How to start it, and whom to tell. */
export interface Supervised {
  readonly name: string;
  /** Starts it anew; rejects when that fails, and stops what it began when the signal aborts. */
  start(signal: AbortSignal): Promise<Running>;
  /** Takes one line. */
  report(line: string): void;
}

/**
 * Starts it, and starts it again whenever it ends, at once the first time and then ever more slowly. The first start rejects
 * when it fails. Answers how to stop it for good.
 */
export async function supervise(supervised: Supervised, signal: AbortSignal): Promise<() => Promise<void>> {
  const first = await supervised.start(signal);
  const stopping = new AbortController();
  const watched = watch(supervised, first, stopping.signal);
  return async () => {
    stopping.abort();
    await watched;
  };
}

async function watch({ name, start, report }: Supervised, first: Running, stopping: AbortSignal): Promise<void> {
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

/** One that has run for so long starts again with a short pause. */
const STEADY_MS = 60_000;
const MAX_PAUSE_MS = 15_000;
