import { errorFields, type Log } from '../../../platform/log.ts';
import { type RunningJob, runPeriodically } from '../../../platform/periodic-job.ts';
import type { Clock } from '../clock.ts';

/** Work that waits in the database until it is due. */
export interface Work<Item> {
  readonly name: string;
  /** Between two searches, milliseconds. */
  readonly intervalMs: number;
  /** Maximum number of items at a time. */
  readonly slots: number;
  /** Two items with the same key are never handled at the same time in this process. */
  keyOf(item: Item): string;
  find(limit: number): Promise<readonly Item[]>;
  handle(item: Item): Promise<void>;
}

/** Finds what is due and handles it. Returns the number of items after all have ended; throws as runEach() does. */
export async function workOnce<Item>({ slots, find, handle }: Work<Item>): Promise<number> {
  const items = await find(slots);
  await runEach(items, handle);
  return items.length;
}

/**
 * Works until it is closed. It searches again without waiting for items in progress: one that takes long, because the processor does
 * not answer or its row is locked, holds its own slot and delays no other.
 */
export function workLoop<Item>(work: Work<Item>, log: Log, clock: Clock): Pick<RunningJob, 'close'> {
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
  const job = runPeriodically({ name: work.name, intervalMs: work.intervalMs, runOnce }, log, clock);
  return {
    async close() {
      await job.close();
      await Promise.all(busy.values());
    },
  };
}

/** Runs all items at once, to their end even when some fail. Then throws the failure, or an AggregateError of several. */
export async function runEach<Item>(items: readonly Item[], run: (item: Item) => Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled(items.map(run));
  const failures: unknown[] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  const [first, ...others] = failures;
  if (others.length > 0) {
    throw new AggregateError(failures, `${failures.length} of ${items.length} failed`, { cause: first });
  }
  if (failures.length > 0) throw first;
}
