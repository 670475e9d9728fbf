import type { Database } from '../storage/database.ts';
import { findSilent } from '../storage/delivery/due-deliveries.ts';
import { endpointName } from '../storage/endpoint/endpoint.ts';
import type { Queue } from './queue.ts';

/**
 * Sets an alarm for every due delivery without one: the process that wrote it died before it set the alarm, its endpoint was paused,
 * or the queue was emptied. Returns the number of alarms.
 */
export async function sweepDeliveries(database: Database, queue: Queue, now: Date): Promise<number> {
  const before = new Date(now.getTime() - GRACE_MS);
  const silent = await findSilent(database.query, before, now, PER_ENDPOINT);
  await queue.set(silent.map((delivery) => ({ id: delivery.id, endpoint: endpointName(delivery) })));
  return silent.length;
}

/** The process that writes a delivery sets its alarm within this time. */
const GRACE_MS = 2_000;
/** Alarms per endpoint and sweep; the next sweep goes on. */
const PER_ENDPOINT = 5_000;
