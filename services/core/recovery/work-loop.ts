import type { Clock } from '../../../platform/clock.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { runPeriodically } from '../../../platform/periodic-job.ts';
import { type Place, Places } from '../../../platform/places.ts';
import type { Search, Turns } from '../storage/by-turns.ts';

/** Most items of a job in progress at once, for each processor. */
export const SLOTS = 200;

/** Work that waits in the database until it is due. */
export interface Work<Found, Item = Found> {
  readonly name: string;
  /** Between two searches, milliseconds. */
  readonly intervalMs: number;
  /** Maximum number of items at a time. */
  readonly slots: number;
  /** The item's requestId. Two items with the same are never handled at the same time in this process. */
  keyOf(found: Found | Item): string;
  merchantOf(found: Found): string;
  /** `but` are the keys of items that are being handled, or were put off: they must not use up the limit. */
  find(asked: Omit<Search, 'now'>): Promise<readonly Found[]>;
  /** Takes the found items that have a slot, so that no other process works on them. Returns those taken. */
  take(found: readonly Found[]): Promise<readonly Item[]>;
  /** Resolves with 'LATER' when it could not be done yet. Such an item is put off, and so is one whose handling fails. */
  handle(item: Item): Promise<unknown>;
}

/**
 * Works until it is closed. It searches again without waiting for items in progress: a slow item (its processor is
 * silent, or its row locked) holds only its own slot. A failed item is put off, so that it does not block due ones.
 * Merchants share the slots: each may have as many as it leaves free.
 */
export function workLoop<Found, Item = Found>(work: Work<Found, Item>, log: Log, clock: Clock) {
  const busy = new Map<string, Promise<void>>();
  const slots = new Places({ total: work.slots, share: 1 });
  const turns: Turns = { isFull: (merchantId) => slots.full(merchantId) !== undefined, last: new Map() };
  /** Until when, milliseconds; the oldest first. */
  const putOff = new Map<string, number>();
  /** When the next search need not wait for its interval: more is due, and this few are in progress. */
  let hurriesAt = -1;
  let hurry: NodeJS.Timeout | undefined;
  const postpone = (key: string): void => {
    putOff.delete(key);
    putOff.set(key, clock().getTime() + PUT_OFF_MS);
    const [oldest = key] = putOff.keys();
    if (putOff.size > MOST_PUT_OFF) putOff.delete(oldest);
  };
  const fail = (key: string, error: unknown): void => {
    log.error('job_failed', { job: work.name, requestId: key, ...errorFields(error) });
    postpone(key);
  };
  const leave = (key: string, slot: Place): void => {
    busy.delete(key);
    slot.leave();
    if (busy.size > hurriesAt || hurry) return;
    hurry = setTimeout(() => job.wake(), HURRY_MS);
  };
  /** Gives slots to found items until each merchant's are used up. Returns item and slot by key. */
  const enter = (found: readonly Found[]): Map<string, { each: Found; slot: Place }> => {
    const entered = new Map<string, { each: Found; slot: Place }>();
    for (const each of found) {
      const key = work.keyOf(each);
      if (busy.has(key) || entered.has(key)) continue;
      const slot = slots.take(work.merchantOf(each));
      if (typeof slot !== 'string') entered.set(key, { each, slot });
    }
    return entered;
  };
  const start = (item: Item, key: string, slot: Place): void => {
    const handled = work
      .handle(item)
      .then((done) => (done === 'LATER' ? postpone(key) : undefined))
      .catch((error) => fail(key, error))
      .finally(() => leave(key, slot));
    busy.set(key, handled);
  };
  const runOnce = async (): Promise<void> => {
    clearTimeout(hurry);
    hurry = undefined;
    hurriesAt = -1;
    const limit = work.slots - busy.size;
    if (limit <= 0) return;
    const now = clock().getTime();
    for (const [key, untilMs] of putOff) if (untilMs <= now) putOff.delete(key);
    const found = await work.find({ limit, but: [...busy.keys(), ...putOff.keys()], turns });
    const entered = enter(found);
    const isMoreDue = found.length > entered.size || found.length >= limit;
    try {
      for (const item of await work.take([...entered.values()].map(({ each }) => each))) {
        const key = work.keyOf(item);
        const slot = entered.get(key)?.slot;
        if (slot === undefined) continue;
        entered.delete(key);
        start(item, key, slot);
      }
    } finally {
      for (const { slot } of entered.values()) slot.leave();
    }
    if (isMoreDue) hurriesAt = Math.floor((busy.size * 3) / 4);
  };
  const job = runPeriodically({ name: work.name, intervalMs: work.intervalMs, runOnce }, log, clock);
  return {
    async close() {
      clearTimeout(hurry);
      await job.close();
      await Promise.all(busy.values());
      clearTimeout(hurry);
    },
  };
}

const PUT_OFF_MS = 10_000;
/** Failures are rare; a search that leaves out many keys is slow. */
const MOST_PUT_OFF = 1_000;
/** Between two searches, while more is due than there was room for. */
const HURRY_MS = 100;
