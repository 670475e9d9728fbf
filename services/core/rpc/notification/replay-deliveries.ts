import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import {
  DeliveryState,
  EndpointKind,
  type NotificationService,
  type ReplayDeliveriesRequest,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { audited } from '../../storage/audit-log.ts';
import { endpointName } from '../../storage/endpoint.ts';
import { type ReplayRange, replayOne, replayRange } from '../../storage/replay-deliveries.ts';
import { keptEndpointKind } from './kinds.ts';
import type { NotificationCore } from './notification-core.ts';
import { readDelivery } from './read-deliveries.ts';

/** Sends one delivery again. */
export function replayDelivery(core: NotificationCore): MethodImpl<typeof NotificationService.method.replayDelivery> {
  return async ({ deliveryId }) => {
    await readDelivery(core, deliveryId);
    const now = core.clock();
    const action = { at: now, action: 'delivery.replay', target: deliveryId };
    const due = await audited(core.database, action, async (query) => {
      const replayed = await replayOne(query, deliveryId, now);
      if (!replayed) throw new HoldfastError('INVALID_REQUEST', 'the body of the delivery was purged');
      return replayed;
    });
    await core.queue.move(due.id, 0);
    void core.queue.ring([{ id: due.id, endpoint: endpointName(due) }]);
    return { delivery: await readDelivery(core, deliveryId) };
  };
}

/** Sends the deliveries of a range again. Their alarms go off one after the other, so that nobody is flooded. */
export function replayDeliveries(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.replayDeliveries> {
  return async (request) => {
    const now = core.clock();
    const range = rangeOf(request);
    const detail = { ...range };
    const action = { at: now, action: 'delivery.replay-range', target: request.merchantId, detail };
    const due = await audited(core.database, action, (query) => replayRange(query, range, now));
    const inMs = (dueAt: Date) => dueAt.getTime() - now.getTime();
    void core.queue.ring(due.map((each) => ({ id: each.id, endpoint: endpointName(each), inMs: inMs(each.dueAt) })));
    return { replayedCount: due.length, more: due.length === range.maxCount };
  };
}

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
