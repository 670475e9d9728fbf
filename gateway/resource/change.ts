/** Changes that are no operation: what their answers promise. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Core } from '../core/client.ts';
import { isInDoubt } from '../core/retry-calls.ts';
import { Problem } from '../http/problem.ts';

/**
 * Makes a change. It is not repeated here: a second one might be made after a later change of somebody else's. When
 * core has not said what became of it, this waits until the deadline of its calls is over, after which core stores
 * nothing of it, and throws OUTCOME_UNKNOWN.
 */
export async function makeChange<T>(core: Pick<Core, 'timeoutMs'>, change: () => T | Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await change();
  } catch (error) {
    if (!isInDoubt(error)) throw error;
    await delay(Math.max(0, core.timeoutMs - (performance.now() - startedMs)));
    throw new Problem('OUTCOME_UNKNOWN', { detail: CHANGE_NOT_KNOWN, cause: error });
  }
}

export const CHANGE_NOT_KNOWN =
  'It is not known whether this was changed. Look at what it was to change; what is not changed 30 seconds after this ' +
  'answer never will be.';

const NOTHING_CHANGED = 'Nothing was changed, and nothing will come of this request';

/** The promises of refused changes, by HTTP status. */
export const CHANGE_PROMISES: Readonly<Record<number, string>> = {
  408: `${NOTHING_CHANGED}: send it again.`,
  429: `${NOTHING_CHANGED}: send it again after Retry-After.`,
  500: 'A bug. It may have been changed: look at what it was to change.',
  503: `${NOTHING_CHANGED}: send it again after Retry-After.`,
  504:
    'It may have been changed: look at what it was to change, or send it again where that does no harm. What is not ' +
    'changed 30 seconds after this answer never will be.',
};
