import type { MethodImpl } from '@connectrpc/connect';
import type { OctService } from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { findOct } from '../../storage/oct/oct.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope, scopeOf } from '../server/caller.ts';
import { presentOct } from './present-oct.ts';

/** Looks up an OCT. Another merchant's, and a malformed id, look like one that does not exist. */
export function getOct(core: Core): MethodImpl<typeof OctService.method.getOct> {
  return async (request, context) => {
    const scope = scopeOf(context, request.merchantId);
    const oct = isUuid(request.requestId) ? await findOct(core.database.query, request.requestId) : undefined;
    if (!oct || !isInScope(oct, scope)) throw refusalOf('OPERATION_NOT_FOUND');
    return { oct: presentOct(oct) };
  };
}
