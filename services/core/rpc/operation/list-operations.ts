import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import {
  type ListOperationsRequest,
  OperationKind,
  type OperationService,
} from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { OperationKind as Kind } from '../../domain/kinds.ts';
import { listResults, type ResultFilter } from '../../storage/operation/operation.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { scopeOf } from '../server/caller.ts';
import { presentOperation } from './present-operation.ts';

/** Lists final results, newest first; their sequence is the page's cursor. */
export function listOperations(core: Core): MethodImpl<typeof OperationService.method.listOperations> {
  return async (request, context) => {
    const merchantId = scopeOf(context, request.merchantId);
    if (request.holdRequestId !== '' && !isUuid(request.holdRequestId)) return { operations: [], nextPageToken: '' };
    const filters = filtersOf(request);
    const after = pageKey(request.pageToken, filters, (text) => /^\d{1,18}$/.test(text));
    const before = after === undefined ? undefined : BigInt(after);
    const size = pageSizeOf(request);
    const operations = await listResults(core.database, filters, { merchantId, before, limit: size + 1 });
    const { page, nextPageToken } = cutPage(operations, size, (last) => pageToken(last.sequence.toString(), filters));
    return { operations: page.map(presentOperation), nextPageToken };
  };
}

function filtersOf(request: ListOperationsRequest): ResultFilter {
  const { kind, state, holdRequestId, finalFrom, finalTo, amountFrom, amountTo, currency } = request;
  return {
    ...(kind !== OperationKind.UNSPECIFIED && { kind: OperationKind[kind] as Kind }),
    ...(state !== OperationState.UNSPECIFIED && { status: OperationState[state] as 'OK' | 'KO' }),
    ...(holdRequestId !== '' && { holdRequestId }),
    ...(finalFrom && { finalFrom: timestampDate(finalFrom) }),
    ...(amountFrom !== 0n && { amountFrom }),
    ...(amountTo !== 0n && { amountTo }),
    ...(currency !== '' && { currency }),
    ...(finalTo && { finalTo: timestampDate(finalTo) }),
  };
}
