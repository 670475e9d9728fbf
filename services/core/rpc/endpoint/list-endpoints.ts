import type { MethodImpl } from '@connectrpc/connect';
import type { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { type EndpointKey, endpointName, listTroubledEndpoints } from '../../storage/endpoint/endpoint.ts';
import type { Core } from '../core.ts';
import { isMerchantId } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentEndpoint } from './present-endpoint.ts';

/** Lists endpoints that have failed or are paused. */
export function listEndpoints(core: Core): MethodImpl<typeof NotificationService.method.listEndpoints> {
  return async (request) => {
    const filters = request.merchantId === '' ? {} : { merchantId: request.merchantId };
    const name = pageKey(request.pageToken, filters, (text) => keyOf(text) !== undefined);
    const size = pageSizeOf(request);
    const after = name === undefined ? undefined : keyOf(name);
    const rows = await listTroubledEndpoints(core.database, filters.merchantId, after, size + 1);
    const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(endpointName(last), filters));
    return { endpoints: page.map(presentEndpoint), nextPageToken };
  };
}

/** The endpoint that a text names, as endpointName() writes it. */
function keyOf(text: string): EndpointKey | undefined {
  const [merchantId = '', kind] = text.split('/');
  const isName = isMerchantId(merchantId) && (kind === 'webhook' || kind === 'internal');
  return isName ? { merchantId, kind } : undefined;
}
