import type { MethodImpl } from '@connectrpc/connect';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import type { EndpointState } from '../../storage/endpoint/endpoint.ts';
import type { Core } from '../core.ts';
import { keptEndpointKind } from '../kinds.ts';
import { changeEndpoint } from './change-endpoint.ts';

/** Pauses an endpoint: nothing is sent, and its deliveries keep their bodies and their order. */
export function pauseEndpoint(core: Core): MethodImpl<typeof NotificationService.method.pauseEndpoint> {
  return async ({ merchantId, endpointKind }) => {
    const key = { merchantId, kind: keptEndpointKind(endpointKind) };
    const pause = (state: EndpointState): EndpointState => ({ ...state, pause: 'OPERATOR', pausedUntil: null });
    return { endpoint: await changeEndpoint(core, key, 'endpoint.pause', pause) };
  };
}
