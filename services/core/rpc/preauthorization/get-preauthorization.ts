import type { MethodImpl } from '@connectrpc/connect';
import type { PreauthorizationService } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { CaptureEntity } from '../../storage/capture.ts';
import { scopeOf } from '../caller.ts';
import type { Core } from '../core.ts';
import { presentCapture, presentHold } from '../present.ts';
import { findHold } from './find-hold.ts';

/** Looks up a hold with its captures. */
export function getPreauthorization(core: Core): MethodImpl<typeof PreauthorizationService.method.getPreauthorization> {
  return async (request, context) => {
    const hold = await findHold(core, request, scopeOf(context, request.merchantId));
    const captures = await core.database.orm.em
      .fork()
      .find(CaptureEntity, { holdRequestId: hold.requestId }, { orderBy: { requestId: 'asc' } });
    return { preauthorization: { ...presentHold(hold, core.cipher), captures: captures.map(presentCapture) } };
  };
}
