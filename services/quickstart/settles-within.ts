/** Waiting with an end to it. */
import { setTimeout as delay } from 'node:timers/promises';

/** Answers true once the promise is fulfilled, false after the time. Leaves no timer behind. */
export async function settlesWithin(limitMs: number, promise: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(limitMs, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timer.abort();
  }
}
