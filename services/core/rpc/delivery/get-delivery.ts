import { readEndpointTerms } from '../../storage/endpoint/endpoint-terms.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { findOperation } from '../operation/find-operation.ts';
import { demandDelivery } from './find-delivery.ts';
import { presentContent } from './present-content.ts';
import { presentDelivery } from './present-delivery.ts';

/** Looks up a delivery with its attempts, what it sends, and what it is about. Throws OPERATION_NOT_FOUND. */
export const getDelivery: Method<'getDelivery'> = async (core, { deliveryId, merchantId: scope }) => {
  const { database, cipher } = core;
  const { delivery, attempts } = await demandDelivery(core, deliveryId, scope);
  const { merchantId, requestId } = delivery;
  const terms = (await readEndpointTerms(database.query, cipher, [merchantId])).get(merchantId);
  const operation = isUuid(requestId) ? await findOperation(core, requestId, merchantId) : undefined;
  return {
    delivery: presentDelivery(delivery, attempts),
    ...(terms && { content: presentContent(delivery, terms, core.clock()) }),
    ...(operation && { operation }),
  };
};
