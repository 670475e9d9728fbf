import type { Work } from '../../../services/core/recovery/work-loop.ts';

/** Finds what is due and handles it. Returns the number of items after all have ended; throws the first failure. */
export async function workOnce<Found, Item>({ slots, find, take, handle }: Work<Found, Item>): Promise<number> {
  const items = await take(await find({ limit: slots, but: [] }));
  const ends = await Promise.allSettled(items.map(handle));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return items.length;
}
