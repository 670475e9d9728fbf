import { setTimeout as delay } from 'node:timers/promises';

/**
 * Shares runs between concurrent callers. Each caller waits for a run that started after its call, so the run has seen
 * everything before it. However many callers there are, runs are sequential and start at least `everyMs` apart.
 */
export function coalesceRuns(run: () => Promise<void>, everyMs: number): () => Promise<void> {
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
