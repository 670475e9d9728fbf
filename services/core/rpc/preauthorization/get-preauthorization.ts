import type { MethodImpl } from '@connectrpc/connect';
import type { PreauthorizationService } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { CaptureEntity } from '../../storage/capture.ts';
import { hashOf } from '../../storage/cipher.ts';
import { HoldEntity } from '../../storage/hold.ts';
import { scopeOf } from '../caller.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { presentCapture, presentHold } from '../present.ts';
import { refusalOf } from '../refuse.ts';

/** Looks up a hold with its captures. Another merchant's hold, and a malformed id, look like one that does not exist. */
export function getPreauthorization(core: Core): MethodImpl<typeof PreauthorizationService.method.getPreauthorization> {
  return async (request, context) => {
    const merchantId = scopeOf(context, request.merchantId);
    if (request.requestId !== '' && !isUuid(request.requestId)) throw refusalOf('PREAUTHORIZATION_NOT_FOUND');
    const em = core.database.orm.em.fork();
    const hold = await em.findOne(HoldEntity, {
      ...(request.requestId ? { requestId: request.requestId } : { idHash: hashOf(request.preauthorizationId) }),
      ...(merchantId !== undefined && { merchantId }),
    });
    if (!hold) throw refusalOf('PREAUTHORIZATION_NOT_FOUND');
    const captures = await em.find(CaptureEntity, { holdRequestId: hold.requestId }, { orderBy: { requestId: 'asc' } });
    return { preauthorization: { ...presentHold(hold, core.cipher), captures: captures.map(presentCapture) } };
  };
}
