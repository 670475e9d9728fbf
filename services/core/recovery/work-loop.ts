import type { Clock } from '../../../platform/clock.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { runPeriodically } from '../../../platform/periodic-job.ts';

/** Work that waits in the database until it is due. */
export interface Work<Item> {
  readonly name: string;
  /** Between two searches, milliseconds. */
  readonly intervalMs: number;
  /** Maximum number of items at a time. */
  readonly slots: number;
  /** The item's requestId. Two items with the same are never handled at the same time in this process. */
  keyOf(item: Item): string;
  /** `but` are the keys of items that are being handled, or were put off: they must not use up the limit. */
  find(limit: number, but: readonly string[]): Promise<readonly Item[]>;
  /** An item whose handling fails is put off. */
  handle(item: Item): Promise<void>;
}

/**
 * Works until it is closed. It searches again without waiting for items in progress: one that takes long, because the
 * processor does not answer or its row is locked, holds its own slot and delays no other. One that fails is put off, so
 * that it does not stand before others that are due.
 */
export function workLoop<Item>(work: Work<Item>, log: Log, clock: Clock) {
  const busy = new Map<string, Promise<void>>();
  /** Until when, milliseconds; the oldest first. */
  const putOff = new Map<string, number>();
  const fail = (key: string, error: unknown): void => {
    log.error('job_failed', { job: work.name, requestId: key, ...errorFields(error) });
    putOff.delete(key);
    putOff.set(key, clock().getTime() + PUT_OFF_MS);
    const [oldest = key] = putOff.keys();
    if (putOff.size > MOST_PUT_OFF) putOff.delete(oldest);
  };
  const runOnce = async (): Promise<void> => {
    const free = work.slots - busy.size;
    if (free <= 0) return;
    const now = clock().getTime();
    for (const [key, untilMs] of putOff) if (untilMs <= now) putOff.delete(key);
    for (const item of await work.find(free, [...busy.keys(), ...putOff.keys()])) {
      const key = work.keyOf(item);
      if (busy.has(key)) continue;
      const handled = work
        .handle(item)
        .catch((error) => fail(key, error))
        .finally(() => busy.delete(key));
      busy.set(key, handled);
    }
  };
  const job = runPeriodically({ name: work.name, intervalMs: work.intervalMs, runOnce }, log, clock);
  return {
    async close() {
      await job.close();
      await Promise.all(busy.values());
    },
  };
}

const PUT_OFF_MS = 10_000;
/** What fails is rare; a search that leaves out many is slow. */
const MOST_PUT_OFF = 1_000;
