import { type EndpointKey, endpointName, listTroubledEndpoints } from '../../storage/endpoint/endpoint.ts';
import type { Method } from '../core.ts';
import { isMerchantId } from '../ids.ts';
import { filtersOf, readPage } from '../pages.ts';
import { presentEndpoint } from './change-endpoint.ts';

/** Lists endpoints that have failed or are paused. */
export const listEndpoints: Method<'listEndpoints'> = async (core, request) => {
  const filters = filtersOf({ merchantId: request.merchantId });
  const byName = { isKey: (text: string) => keyOf(text) !== undefined, keyOf: endpointName };
  const { page, nextPageToken } = await readPage(request, filters, byName, {
    read: (after = '', limit) => listTroubledEndpoints(core.reads, filters.merchantId, keyOf(after), limit),
    present: presentEndpoint,
  });
  return { endpoints: page, nextPageToken };
};

/** The endpoint that a text names, as endpointName() writes it. */
function keyOf(text: string): EndpointKey | undefined {
  const [merchantId = '', kind] = text.split('/');
  const isName = isMerchantId(merchantId) && (kind === 'webhook' || kind === 'internal');
  return isName ? { merchantId, kind } : undefined;
}
