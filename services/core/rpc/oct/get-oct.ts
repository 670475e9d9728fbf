import { findSubmission } from '../../storage/submission/read-submissions.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { presentOct } from '../present.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope, scopeOf } from '../server/caller.ts';

/** Looks up an OCT. Another merchant's, and a malformed id, look like one that does not exist. */
export const getOct: Method<'getOct'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const oct = isUuid(request.requestId) ? await findSubmission(core.database.query, request.requestId) : undefined;
  if (oct?.kind !== 'OCT' || !isInScope(oct, scope)) throw refusalOf('OPERATION_NOT_FOUND');
  return { oct: presentOct(oct) };
};
