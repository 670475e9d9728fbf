import type { MethodImpl } from '@connectrpc/connect';
import type { PreauthorizationService } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { listCaptures } from '../../storage/capture/capture.ts';
import type { Core } from '../core.ts';
import { scopeOf } from '../server/caller.ts';
import { namedHold } from './named-hold.ts';
import { presentCapture } from './present-capture.ts';
import { presentHold } from './present-hold.ts';

/** Looks up a hold with its captures. */
export function getPreauthorization(core: Core): MethodImpl<typeof PreauthorizationService.method.getPreauthorization> {
  return async (request, context) => {
    const hold = await namedHold(core, request, scopeOf(context, request.merchantId));
    const captures = await listCaptures(core.database.query, hold.requestId);
    return { preauthorization: { ...presentHold(hold, core.cipher), captures: captures.map(presentCapture) } };
  };
}
