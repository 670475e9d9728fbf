import { readWholeDelivery } from '../../storage/delivery/read-deliveries.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { presentDelivery } from './present-delivery.ts';

/** The answer about one delivery, with its attempts. Throws OPERATION_NOT_FOUND. */
export async function findDelivery(core: Core, deliveryId: string) {
  const found = isUuid(deliveryId) ? await readWholeDelivery(core.database, deliveryId) : undefined;
  if (!found) throw refusalOf('OPERATION_NOT_FOUND');
  return presentDelivery(found.delivery, found.attempts);
}
