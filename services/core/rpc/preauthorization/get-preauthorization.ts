import { listCaptures } from '../../storage/capture/capture.ts';
import type { Method } from '../core.ts';
import { presentCapture } from '../present.ts';
import { scopeOf } from '../server/caller.ts';
import { namedHold } from './named-hold.ts';
import { presentHold } from './present-hold.ts';

/** Looks up a hold with its captures. */
export const getPreauthorization: Method<'getPreauthorization'> = async (core, request, context) => {
  const hold = await namedHold(core, request, scopeOf(context, request.merchantId));
  const captures = await listCaptures(core.database.query, hold.requestId);
  return { preauthorization: { ...presentHold(hold, core.cipher), captures: captures.map(presentCapture) } };
};
