import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  DeliveryState,
  EndpointKind,
  type ReplayDeliveriesRequest,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log/audit-log.ts';
import {
  MAX_ATTEMPTS,
  type ReplayRange,
  recoverRange,
  replayOne,
  replayRange,
} from '../../storage/delivery/make-due-again.ts';
import { endpointName } from '../../storage/endpoint/endpoint-row.ts';
import type { Method } from '../core.ts';
import { keptEndpointKind } from '../present.ts';
import { invalidField } from '../refuse.ts';
import { demandDelivery, isMerchant, presentAttempts, presentDelivery } from './present-delivery.ts';
import { spendQuota } from './send-test-notification.ts';

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
  core.announce([endpointName(endpoint)]);
  const [delivery, { attempts }] = [
    await demandDelivery(core, deliveryId, merchantId),
    await presentAttempts(core, context, deliveryId),
  ];
  return { delivery: presentDelivery(delivery, attempts) };
};

/** Sends the deliveries of a range again, spread over time so that no endpoint is flooded. */
export const replayDeliveries: Method<'replayDeliveries'> = async (core, request) => {
  const now = core.clock();
  const range = rangeOf(request);
  const detail = { ...range };
  const action = { at: now, action: 'delivery.replay-range', target: request.merchantId, detail };
  const replayed = await audited(core.database, action, (query) => replayRange(query, range, now));
  core.announce(replayed.map(endpointName));
  return { replayedCount: replayed.length, more: replayed.length === range.maxCount };
};

function rangeOf(request: ReplayDeliveriesRequest): ReplayRange {
  const { endpointKind, createdFrom, createdTo } = request;
  return {
    merchantId: request.merchantId,
    endpointKind: endpointKind === EndpointKind.UNSPECIFIED ? null : keptEndpointKind(endpointKind),
    state: request.state === DeliveryState.DELIVERED ? 'DELIVERED' : 'DEAD',
    createdFrom: createdFrom ? timestampDate(createdFrom) : null,
    createdTo: createdTo ? timestampDate(createdTo) : null,
    maxCount: request.maxCount === 0 ? 1_000 : request.maxCount,
    perSecond: request.perSecond === 0 ? 20 : request.perSecond,
  };
}

/**
 * Makes due now what was not delivered in a time, also what waits for a later attempt. Throws RATE_LIMITED for a
 * merchant that does it too often.
 */
export const recoverDeliveries: Method<'recoverDeliveries'> = async (core, request, context) => {
  const { merchantId, endpointKind, since, until } = request;
  if (isMerchant(context) && merchantId === '') throw invalidField('merchant_id', 'must be named');
  if (!since) throw invalidField('since', 'is needed');
  const now = core.clock();
  const range = {
    merchantId: merchantId || null,
    endpointKind: endpointKind === EndpointKind.UNSPECIFIED ? null : keptEndpointKind(endpointKind),
    since: timestampDate(since),
    until: until ? timestampDate(until) : null,
  };
  const action = { at: now, action: 'delivery.recover', target: merchantId || 'all merchants', detail: { ...range } };
  const recovered = await audited(core.database, action, async (query) => {
    if (isMerchant(context)) await spendQuota(query, merchantId, 'delivery.recover', now);
    return recoverRange(query, range, now);
  });
  core.announce(recovered.map(endpointName));
  return { count: recovered.length };
};
