import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  DeliveryState,
  EndpointKind,
  type ReplayDeliveriesRequest,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { type ReplayRange, replayRange } from '../../storage/delivery/replay-deliveries.ts';
import { endpointName } from '../../storage/endpoint/endpoint.ts';
import type { Method } from '../core.ts';
import { keptEndpointKind } from '../present.ts';

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
