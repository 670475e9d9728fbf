import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import type { FilterQuery } from '@mikro-orm/core';
import {
  type ListOperationsRequest,
  OperationKind,
  type OperationService,
} from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { OperationKind as Kind } from '../../domain/operation.ts';
import { OperationEntity, type OperationRow } from '../../storage/operation.ts';
import { scopeOf } from '../caller.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentOperation } from '../present.ts';

/** Lists final results, newest first; their sequence is the page's cursor. */
export function listOperations(core: Core): MethodImpl<typeof OperationService.method.listOperations> {
  return async (request, context) => {
    const merchantId = scopeOf(context, request.merchantId);
    if (request.holdRequestId !== '' && !isUuid(request.holdRequestId)) return { operations: [], nextPageToken: '' };
    const filters = filtersOf(request);
    const after = pageKey(request.pageToken, filters, (text) => /^\d{1,18}$/.test(text));
    const size = pageSizeOf(request);
    const where: FilterQuery<OperationRow>[] = [filters];
    if (merchantId !== undefined) where.push({ merchantId });
    if (after !== undefined) where.push({ sequence: { $lt: BigInt(after) } });
    const operations = await core.database.orm.em
      .fork()
      .find(OperationEntity, { $and: where }, { orderBy: { sequence: 'desc' }, limit: size + 1 });
    const { page, nextPageToken } = cutPage(operations, size, (last) => pageToken(last.sequence.toString(), filters));
    return { operations: page.map(presentOperation), nextPageToken };
  };
}

function filtersOf(request: ListOperationsRequest) {
  const { kind, state, holdRequestId, finalFrom, finalTo } = request;
  const final = {
    ...(finalFrom && { $gte: timestampDate(finalFrom) }),
    ...(finalTo && { $lt: timestampDate(finalTo) }),
  };
  return {
    ...(kind !== OperationKind.UNSPECIFIED && { kind: OperationKind[kind] as Kind }),
    ...(state !== OperationState.UNSPECIFIED && { status: OperationState[state] as 'OK' | 'KO' }),
    ...(holdRequestId !== '' && { holdRequestId }),
    ...(Object.keys(final).length > 0 && { finalStateDate: final }),
  };
}
