import type { MethodImpl } from '@connectrpc/connect';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { endpointName, FRESH } from '../../storage/endpoint/endpoint.ts';
import type { Core } from '../core.ts';
import { keptEndpointKind } from '../kinds.ts';
import { changeEndpoint } from './change-endpoint.ts';

/** Ends a pause: waiting deliveries are sent now. Those that have lost their alarm get one from the sweeper. */
export function resumeEndpoint(core: Core): MethodImpl<typeof NotificationService.method.resumeEndpoint> {
  return async ({ merchantId, endpointKind }) => {
    const key = { merchantId, kind: keptEndpointKind(endpointKind) };
    const endpoint = await changeEndpoint(core, key, 'endpoint.resume', () => FRESH);
    await core.queue.moveAll(endpointName(key), 0);
    return { endpoint };
  };
}
