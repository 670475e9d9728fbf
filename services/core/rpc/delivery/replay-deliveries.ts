import { timestampDate } from '@bufbuild/protobuf/wkt';
import { drawId } from '../../../../platform/draw-id.ts';
import { DeliveryState } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { testNotificationBody } from '../../domain/notification-body.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { isOfContract } from '../../storage/delivery/delivery-row.ts';
import { insertTestDelivery } from '../../storage/delivery/insert-deliveries.ts';
import { MAX_ATTEMPTS, recoverRange, replayOne, replayRange } from '../../storage/delivery/make-due-again.ts';
import { endpointName } from '../../storage/endpoint/endpoint-row.ts';
import { findMerchant } from '../../storage/merchant/merchant-row.ts';
import type { Method } from '../core.ts';
import { chosenEndpoint, keptEndpointId } from '../present.ts';
import { invalidField, noSuch } from '../refuse.ts';
import { spendQuota } from '../spend-quota.ts';
import { demandDelivery, isMerchant, presentAttempts, presentDelivery } from './deliveries.ts';

/** Sends one delivery again. Throws RATE_LIMITED when a merchant does it too often. */
export const replayDelivery: Method<'replayDelivery'> = async (core, { deliveryId, merchantId }, context) => {
  await demandDelivery(core, deliveryId, merchantId);
  const now = core.clock();
  const action = { at: now, action: 'delivery.replay', target: deliveryId };
  const endpoint = await audited(core.database, action, async (query) => {
    if (isMerchant(context)) await spendQuota(query, merchantId, 'delivery.replay', now);
    const replayed = await replayOne(query, deliveryId, now);
    if (!replayed)
      throw new HoldfastError('INVALID_REQUEST', `its body was purged, or it had ${MAX_ATTEMPTS} attempts`);
    return replayed;
  });
  const delivery = await demandDelivery(core, deliveryId, merchantId);
  const { attempts } = await presentAttempts(core, context, deliveryId);
  // Last, so that an attempt of now does not come between the two.
  core.announce([endpointName(endpoint)]);
  return { delivery: presentDelivery(delivery, attempts) };
};

/** Sends the deliveries of a range again, spread over time so that no endpoint is flooded. */
export const replayDeliveries: Method<'replayDeliveries'> = async (core, request) => {
  const { merchantId, createdFrom, createdTo } = request;
  const now = core.clock();
  const range = {
    merchantId,
    endpoint: chosenEndpoint(request),
    state: request.state === DeliveryState.DELIVERED ? 'DELIVERED' : 'DEAD',
    createdFrom: createdFrom ? timestampDate(createdFrom) : null,
    createdTo: createdTo ? timestampDate(createdTo) : null,
    maxCount: request.maxCount || 1_000,
    perSecond: request.perSecond || 20,
  } as const;
  const action = { at: now, action: 'delivery.replay-range', target: merchantId, detail: range };
  const replayed = await audited(core.database, action, (query) => replayRange(query, range, now));
  core.announce(replayed.map(endpointName));
  return { replayedCount: replayed.length, more: replayed.length === range.maxCount };
};

/**
 * Makes due at once the undelivered deliveries of a time, including those that wait for a later attempt. Throws
 * RATE_LIMITED.
 */
export const recoverDeliveries: Method<'recoverDeliveries'> = async (core, request, context) => {
  const { merchantId, since, until } = request;
  if (isMerchant(context) && merchantId === '') throw invalidField('merchant_id', 'must be named');
  if (!since) throw invalidField('since', 'is needed');
  const now = core.clock();
  const range = {
    merchantId: merchantId || null,
    endpoint: chosenEndpoint(request),
    since: timestampDate(since),
    until: until ? timestampDate(until) : null,
  };
  const action = { at: now, action: 'delivery.recover', target: merchantId || 'all merchants', detail: range };
  const recovered = await audited(core.database, action, async (query) => {
    if (isMerchant(context)) await spendQuota(query, merchantId, 'delivery.recover', now);
    return recoverRange(query, range, now);
  });
  core.announce(recovered.map(endpointName));
  return { count: recovered.length };
};

/** Sends a notification about nothing to an endpoint. Throws RATE_LIMITED above a few a minute. */
export const sendTestNotification: Method<'sendTestNotification'> = async (core, request) => {
  const { merchantId } = request;
  const merchant = await findMerchant(core.database, merchantId);
  if (!merchant) throw noSuch('merchant');
  const endpointId = keptEndpointId(request.endpointId || 'default');
  if (endpointId === undefined) throw noSuch('endpoint');
  const at = core.clock();
  const [id, requestId] = [drawId(), drawId()];
  const body = testNotificationBody({ merchantId, requestId, currency: merchant.currencies[0] ?? 'EUR' }, at);
  const action = { at, action: 'delivery.test', target: merchantId, detail: { deliveryId: id } };
  await audited(core.database, action, async (query) => {
    await spendQuota(query, merchantId, 'delivery.test', at);
    const inserted = await insertTestDelivery(query, { id, merchantId, endpointId, requestId, body, at });
    if (inserted) return;
    if (!isOfContract(endpointId)) throw noSuch('endpoint');
    throw new HoldfastError('INVALID_REQUEST', `the merchant has no ${endpointId}Url`);
  });
  core.announce([endpointName({ merchantId, endpointId })]);
  return { delivery: presentDelivery(await demandDelivery(core, id, merchantId)) };
};
