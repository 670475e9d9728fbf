import { endpointName, endpointOf, listTroubledEndpoints } from '../../storage/endpoint/endpoint.ts';
import type { Method } from '../core.ts';
import { filtersOf, readPage } from '../pages.ts';
import { presentEndpoint } from './change-endpoint.ts';

/** Lists endpoints that have failed or are paused. */
export const listEndpoints: Method<'listEndpoints'> = async (core, request) => {
  const filters = filtersOf({ merchantId: request.merchantId });
  const byName = { isKey: (text: string) => endpointOf(text) !== undefined, keyOf: endpointName };
  const { page, nextPageToken } = await readPage(request, filters, byName, {
    read: (after = '', limit) => listTroubledEndpoints(core.reads, filters.merchantId, endpointOf(after), limit),
    present: presentEndpoint,
  });
  return { endpoints: page, nextPageToken };
};
