import type { AcceptedLongest, DescribeResponse } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type SentKind, SUBMISSION_KINDS } from '../domain/kinds.ts';

/**
 * Tells how long a submission may stay ACCEPTED, in milliseconds, as the processor describes itself. It is asked again
 * after an hour, and when it did not answer.
 */
export function openAcceptedLongest(client: {
  describe(request: object): Promise<DescribeResponse>;
}): (kind: SentKind) => Promise<number> {
  let asked: Promise<AcceptedLongest | undefined> | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const ask = async () => {
    try {
      return (await client.describe({})).acceptedLongest;
    } catch {
      askedAtMs = Number.NEGATIVE_INFINITY;
      return undefined;
    }
  };
  return async (kind) => {
    if (performance.now() - askedAtMs > ASK_AGAIN_MS) {
      askedAtMs = performance.now();
      asked = ask();
    }
    const entry = kind === 'HOLD' ? 'AUTHORIZATION' : SUBMISSION_KINDS[kind].entry;
    const longest = (await asked)?.[entry.toLowerCase() as Lowercase<typeof entry>];
    return longest ? Number(longest.seconds) * 1_000 : DEFAULT_LONGEST_MS;
  };
}

const ASK_AGAIN_MS = 3_600_000;
/** As proto/holdfast/processor/v1/processor.proto says. */
const DEFAULT_LONGEST_MS = 7 * 24 * 3_600_000;
