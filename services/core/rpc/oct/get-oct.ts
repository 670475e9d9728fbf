import type { MethodImpl } from '@connectrpc/connect';
import type { OctService } from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OctEntity } from '../../storage/oct.ts';
import { scopeOf } from '../caller.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { presentOct } from '../present.ts';
import { refusalOf } from '../refuse.ts';

/** Looks up an OCT. Another merchant's, and a malformed id, look like one that does not exist. */
export function getOct(core: Core): MethodImpl<typeof OctService.method.getOct> {
  return async (request, context) => {
    const merchantId = scopeOf(context, request.merchantId);
    const scope = merchantId !== undefined ? { merchantId } : {};
    const oct = isUuid(request.requestId)
      ? await core.database.orm.em.fork().findOne(OctEntity, { requestId: request.requestId, ...scope })
      : null;
    if (!oct) throw refusalOf('OPERATION_NOT_FOUND');
    return { oct: presentOct(oct) };
  };
}
