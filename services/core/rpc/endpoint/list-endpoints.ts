import { type EndpointKey, endpointName, listTroubledEndpoints } from '../../storage/endpoint/endpoint.ts';
import type { Method } from '../core.ts';
import { isMerchantId } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentEndpoint } from './change-endpoint.ts';

/** Lists endpoints that have failed or are paused. */
export const listEndpoints: Method<'listEndpoints'> = async (core, request) => {
  const filters = request.merchantId === '' ? {} : { merchantId: request.merchantId };
  const name = pageKey(request.pageToken, filters, (text) => keyOf(text) !== undefined);
  const size = pageSizeOf(request);
  const after = name === undefined ? undefined : keyOf(name);
  const rows = await listTroubledEndpoints(core.database, filters.merchantId, after, size + 1);
  const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(endpointName(last), filters));
  return { endpoints: page.map(presentEndpoint), nextPageToken };
};

/** The endpoint that a text names, as endpointName() writes it. */
function keyOf(text: string): EndpointKey | undefined {
  const [merchantId = '', kind] = text.split('/');
  const isName = isMerchantId(merchantId) && (kind === 'webhook' || kind === 'internal');
  return isName ? { merchantId, kind } : undefined;
}
