import type { MethodImpl } from '@connectrpc/connect';
import type { OperationService } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { scopeOf } from '../server/caller.ts';
import { findOperation } from './find-operation.ts';

/** Looks up an operation: its result, or, while it has none, what was asked for. */
export function getOperation(core: Core): MethodImpl<typeof OperationService.method.getOperation> {
  return async (request, context) => {
    const scope = scopeOf(context, request.merchantId);
    const operation = isUuid(request.requestId) ? await findOperation(core, request.requestId, scope) : undefined;
    if (!operation) throw refusalOf('OPERATION_NOT_FOUND');
    return { operation };
  };
}
