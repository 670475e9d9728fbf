import { ListPreauthorizationsRequestSchema } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { type HoldFilter, listHolds } from '../../storage/hold/read-holds.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { BY_REQUEST_ID, filtersOf, readPage } from '../pages.ts';
import { scopeOf } from '../server/caller.ts';
import { presentListed } from './present-hold.ts';

/** Lists holds, newest first; their requestId is the page's cursor. */
export const listPreauthorizations: Method<'listPreauthorizations'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const { merchantId: _, ...filters } = filtersOf<HoldFilter>(ListPreauthorizationsRequestSchema, request);
  if (filters.requestId !== undefined && !isUuid(filters.requestId))
    return { preauthorizations: [], nextPageToken: '' };
  const ofScope = { ...filters, ...(scope !== undefined && { merchantId: scope }) };
  const { page, nextPageToken } = await readPage(request, filters, BY_REQUEST_ID, {
    read: (after, limit) => listHolds(core.reads, ofScope, after, limit),
    present: (hold) => presentListed(hold, core.cipher),
  });
  return { preauthorizations: page, nextPageToken };
};
