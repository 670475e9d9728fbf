import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import type { FilterQuery } from '@mikro-orm/core';
import {
  HoldStatus,
  type ListPreauthorizationsRequest,
  type PreauthorizationService,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { HoldStatus as Status } from '../../domain/hold.ts';
import { HoldEntity, type HoldRow } from '../../storage/hold.ts';
import { scopeOf } from '../caller.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentListed } from '../present.ts';

/** Lists holds, newest first: requestIds are UUIDv7, so their order is the order of creation and the page's cursor. */
export function listPreauthorizations(
  core: Core,
): MethodImpl<typeof PreauthorizationService.method.listPreauthorizations> {
  return async (request, context) => {
    const merchantId = scopeOf(context, request.merchantId);
    if (request.requestId !== '' && !isUuid(request.requestId)) return { preauthorizations: [], nextPageToken: '' };
    const filters = filtersOf(request);
    const after = pageKey(request.pageToken, filters, isUuid);
    const size = pageSizeOf(request);
    const where: FilterQuery<HoldRow>[] = [filters];
    if (merchantId !== undefined) where.push({ merchantId });
    if (after !== undefined) where.push({ requestId: { $lt: after } });
    const holds = await core.database.orm.em
      .fork()
      .find(HoldEntity, { $and: where }, { orderBy: { requestId: 'desc' }, limit: size + 1 });
    const { page, nextPageToken } = cutPage(holds, size, (last) => pageToken(last.requestId, filters));
    return { preauthorizations: page.map((hold) => presentListed(hold, core.cipher)), nextPageToken };
  };
}

function filtersOf(request: ListPreauthorizationsRequest) {
  const { status, userId, terminalId, merchantReference, requestId, createdFrom, createdTo, expiringBefore } = request;
  const created = { ...dated('$gte', createdFrom), ...dated('$lt', createdTo) };
  return {
    ...(status !== HoldStatus.UNSPECIFIED && { status: HoldStatus[status] as Status }),
    ...(userId !== '' && { userId }),
    ...(terminalId !== '' && { terminalId }),
    ...(merchantReference !== '' && { merchantReference }),
    ...(requestId !== '' && { requestId }),
    ...(Object.keys(created).length > 0 && { createdAt: created }),
    ...(expiringBefore && {
      expiresAt: { $lt: timestampDate(expiringBefore) },
      phase: 'AUTHORIZED' as const,
      // Beside the filter by status, not instead of it.
      $and: [{ status: { $in: ['IN_PROGRESS', 'PARTIALLY_CAPTURED'] as Status[] } }],
    }),
  };
}

function dated(operator: '$gte' | '$lt', timestamp: Timestamp | undefined) {
  return timestamp ? { [operator]: timestampDate(timestamp) } : {};
}
