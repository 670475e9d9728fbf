import type { Database } from '../storage/database.ts';
import { endpointName } from '../storage/endpoint.ts';
import { forwardParked } from '../storage/parked-notifications.ts';
import type { Queue } from './queue.ts';

/**
 * Forwards notifications that were accepted while their merchant had no internalUrl, once it has one. It looks at what is stored
 * instead of at the change of the contract, so one that is accepted at that very moment is found as well. Answers how many.
 */
export async function forwardParkedNotifications(database: Database, queue: Queue, now: Date): Promise<number> {
  let forwarded = 0;
  for (;;) {
    const due = await database.transaction((query) => forwardParked(query, now, PER_MERCHANT));
    if (due.length === 0) return forwarded;
    await queue.ring(due.map((delivery) => ({ id: delivery.id, endpoint: endpointName(delivery) })));
    forwarded += due.length;
  }
}

/** Of one merchant in one transaction: small, so that its locks and its WAL are. */
const PER_MERCHANT = 200;
