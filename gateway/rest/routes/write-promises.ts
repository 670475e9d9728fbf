/** What the answers to a write that makes an operation promise; every such route says the same. */
import { InProgress } from '../schema/answer-fields.ts';
import { replayed } from '../schema/headers.ts';

/** The answer to a write whose outcome is not known; `lookUp` is the route that tells it. */
export function inProgress(lookUp: string) {
  return {
    description:
      `It may have been done, and is being found out. Ask \`GET ${lookUp}\`: a 404 later than 30 seconds after this answer ` +
      'is final, it was not done and never will be',
    schema: InProgress,
    headers: replayed,
  };
}

const NOTHING_STORED = 'Nothing was stored, nothing was sent to the processor, and nothing will come of this request';

/** By HTTP status. */
export const WRITE_PROMISES: Readonly<Record<number, string>> = {
  408: `${NOTHING_STORED}: send it again.`,
  429: `${NOTHING_STORED}: send it again after Retry-After.`,
  500: 'A bug. The operation may have been done: ask for `requestId` as after 202.',
  503: `${NOTHING_STORED}: send it again after Retry-After.`,
};
