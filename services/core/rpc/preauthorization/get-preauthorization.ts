import { newestCaptures } from '../../storage/submission/read-submissions.ts';
import type { Method } from '../core.ts';
import { presentCapture } from '../present.ts';
import { scopeOf } from '../server/caller.ts';
import { namedHold } from './named-hold.ts';
import { presentHold } from './present-hold.ts';

/** Looks up a hold with its newest captures; operations of the hold list the results of all. */
export const getPreauthorization: Method<'getPreauthorization'> = async (core, request, context) => {
  const hold = await namedHold(core, request, scopeOf(context, request.merchantId));
  const captures = await newestCaptures(core.reads.query, hold.requestId, MOST_CAPTURES);
  return { preauthorization: { ...presentHold(hold, core.cipher), captures: captures.map(presentCapture) } };
};

/** Reads of a hold cost little, however often it was captured. */
const MOST_CAPTURES = 50;
