import { readWholeDelivery } from '../../storage/delivery/read-deliveries.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope } from '../server/caller.ts';
import { presentDelivery } from './present-delivery.ts';

/** One delivery with its attempts. Throws OPERATION_NOT_FOUND, also when it is not of the merchant; '' = any merchant's. */
export async function demandDelivery(core: Core, deliveryId: string, merchantId: string) {
  const found = isUuid(deliveryId) ? await readWholeDelivery(core.database, deliveryId) : undefined;
  if (!found || !isInScope(found.delivery, merchantId || undefined)) throw refusalOf('OPERATION_NOT_FOUND');
  return found;
}

/** The answer about one delivery, with its attempts. Throws what demandDelivery() throws. */
export async function findDelivery(core: Core, deliveryId: string, merchantId: string) {
  const { delivery, attempts } = await demandDelivery(core, deliveryId, merchantId);
  return presentDelivery(delivery, attempts);
}
