import { findSubmission } from '../../storage/submission/read-submissions.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { presentRefund } from '../present.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope, scopeOf } from '../server/caller.ts';

/** Looks up a refund. Another merchant's, and a malformed id, look like one that does not exist. */
export const getRefund: Method<'getRefund'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const refund = isUuid(request.requestId) ? await findSubmission(core.database.query, request.requestId) : undefined;
  if (refund?.kind !== 'REFUND' || !isInScope(refund, scope)) throw refusalOf('OPERATION_NOT_FOUND');
  return { refund: presentRefund(refund) };
};
