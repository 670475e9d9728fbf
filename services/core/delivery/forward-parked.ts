import type { Announce } from '../storage/announce.ts';
import type { Database } from '../storage/database.ts';
import { endpointName } from '../storage/endpoint/endpoint-row.ts';
import { forwardParked } from '../storage/notification/parked-notifications.ts';

/**
 * Forwards notifications that were accepted while their merchant had no internal endpoint, once it has one. It searches
 * stored notifications and does not depend on the change of the contract, so one accepted at the same moment is found
 * too. Returns their number.
 */
export async function forwardParkedNotifications(database: Database, announce: Announce, now: Date): Promise<number> {
  let forwarded = 0;
  for (;;) {
    const { count, endpoints } = await database.transaction((query) => forwardParked(query, now, PER_MERCHANT));
    if (count === 0) return forwarded;
    announce(endpoints.map(endpointName));
    forwarded += count;
  }
}

/** Notifications of one merchant in one transaction: few, so that locks are short. */
const PER_MERCHANT = 200;
