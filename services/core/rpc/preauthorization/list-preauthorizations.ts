import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import {
  HoldStatus,
  type ListPreauthorizationsRequest,
  type PreauthorizationService,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { HoldStatus as Status } from '../../domain/hold.ts';
import { type HoldFilter, listHolds } from '../../storage/hold/read-holds.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { scopeOf } from '../server/caller.ts';
import { presentListed } from './present-hold.ts';

/** Lists holds, newest first; their requestId is the page's cursor. */
export function listPreauthorizations(
  core: Core,
): MethodImpl<typeof PreauthorizationService.method.listPreauthorizations> {
  return async (request, context) => {
    const merchantId = scopeOf(context, request.merchantId);
    if (request.requestId !== '' && !isUuid(request.requestId)) return { preauthorizations: [], nextPageToken: '' };
    const filters = filtersOf(request);
    const after = pageKey(request.pageToken, filters, isUuid);
    const size = pageSizeOf(request);
    const holds = await listHolds(core.database, filters, { merchantId, after, limit: size + 1 });
    const { page, nextPageToken } = cutPage(holds, size, (last) => pageToken(last.requestId, filters));
    return { preauthorizations: page.map((hold) => presentListed(hold, core.cipher)), nextPageToken };
  };
}

function filtersOf(request: ListPreauthorizationsRequest): HoldFilter {
  const { status, userId, terminalId, merchantReference, requestId, createdFrom, createdTo, expiringBefore } = request;
  const { amountFrom, amountTo, currency } = request;
  return {
    ...(status !== HoldStatus.UNSPECIFIED && { status: HoldStatus[status] as Status }),
    ...(userId !== '' && { userId }),
    ...(terminalId !== '' && { terminalId }),
    ...(merchantReference !== '' && { merchantReference }),
    ...(requestId !== '' && { requestId }),
    ...(createdFrom && { createdFrom: timestampDate(createdFrom) }),
    ...(createdTo && { createdTo: timestampDate(createdTo) }),
    ...(amountFrom !== 0n && { amountFrom }),
    ...(amountTo !== 0n && { amountTo }),
    ...(currency !== '' && { currency }),
    ...(expiringBefore && { expiringBefore: timestampDate(expiringBefore) }),
  };
}
