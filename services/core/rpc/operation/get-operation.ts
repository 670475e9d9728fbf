import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { scopeOf } from '../server/caller.ts';
import { findOperation } from './find-operation.ts';

/** Looks up an operation: its result, or, while it has none, what was asked for. */
export const getOperation: Method<'getOperation'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const operation = isUuid(request.requestId) ? await findOperation(core, request.requestId, scope) : undefined;
  if (!operation) throw refusalOf('OPERATION_NOT_FOUND');
  return { operation };
};
