import { errorFields, type Log } from '../../../proto/log.ts';
import type { Clock } from '../clock.ts';
import { eachAlone } from './each-alone.ts';
import { every, type Repetition } from './every.ts';

/** Work that lies in the database until its time has come. */
export interface Work<Item> {
  readonly name: string;
  /** Between two looks for more, milliseconds. */
  readonly intervalMs: number;
  /** Most items at once. */
  readonly slots: number;
  /** Two items with the same key are never under way together in this process. */
  keyOf(item: Item): string;
  find(limit: number): Promise<readonly Item[]>;
  handle(item: Item): Promise<void>;
}

/** Finds what is due and does it. Resolves with how much it was when all of it has ended; throws as eachAlone() does. */
export async function workOnce<Item>({ slots, find, handle }: Work<Item>): Promise<number> {
  const items = await find(slots);
  await eachAlone(items, handle);
  return items.length;
}

/**
 * Works until it is closed. It does not wait for what is under way before it looks for more: an item that takes long, because the
 * processor does not answer or its row is locked, occupies its own slot and delays no other.
 */
export function workLoop<Item>(work: Work<Item>, log: Log, clock: Clock): Repetition {
  const busy = new Map<string, Promise<void>>();
  const runOnce = async (): Promise<void> => {
    const free = work.slots - busy.size;
    if (free <= 0) return;
    for (const item of await work.find(free)) {
      const key = work.keyOf(item);
      if (busy.has(key)) continue;
      const handled = work
        .handle(item)
        .catch((error) => log.error('job_failed', { job: work.name, ...errorFields(error) }))
        .finally(() => busy.delete(key));
      busy.set(key, handled);
    }
  };
  const repetition = every({ name: work.name, intervalMs: work.intervalMs, runOnce }, log, clock);
  return {
    async close() {
      await repetition.close();
      await Promise.all(busy.values());
    },
  };
}
