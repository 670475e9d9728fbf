import { setTimeout as delay } from 'node:timers/promises';

/**
 * One run for all who ask at the same time. Each of them waits for a run that began after he asked, so it has seen all that was there
 * by then; however many ask, runs follow each other, at least `everyMs` from beginning to beginning.
 */
export function sharedRun(run: () => Promise<void>, everyMs: number): () => Promise<void> {
  let next: Promise<void> | undefined;
  let latest: Promise<unknown> = Promise.resolve();
  let beganAtMs = Number.NEGATIVE_INFINITY;

  async function begin(): Promise<void> {
    await latest;
    const restMs = beganAtMs + everyMs - performance.now();
    if (restMs > 0) await delay(restMs);
    next = undefined;
    beganAtMs = performance.now();
    const running = run();
    latest = Promise.allSettled([running]);
    await running;
  }

  return () => {
    next ??= begin();
    return next;
  };
}
