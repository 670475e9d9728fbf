import type { Database } from '../storage/database.ts';
import { findSilent } from '../storage/due-deliveries.ts';
import { endpointName } from '../storage/endpoint.ts';
import type { Queue } from './queue.ts';

/**
 * Sets an alarm for every due delivery that has none: because the process that wrote it died before it rang, because its endpoint was
 * paused and is not any more, or because somebody emptied the queue. Answers how many alarms were set.
 */
export async function sweepDeliveries(database: Database, queue: Queue, now: Date): Promise<number> {
  const before = new Date(now.getTime() - GRACE_MS);
  const silent = await findSilent(database.query, before, now, PER_ENDPOINT);
  await queue.set(silent.map((delivery) => ({ id: delivery.id, endpoint: endpointName(delivery) })));
  return silent.length;
}

/** Who wrote a delivery rings for it within moments. */
const GRACE_MS = 2_000;
/** Alarms per endpoint and sweep; the next sweep goes on. */
const PER_ENDPOINT = 5_000;
