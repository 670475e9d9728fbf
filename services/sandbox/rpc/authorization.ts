import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Effect } from '../behaviour.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';

/** The entry of an authorization or checkout, however it ended; undefined when there is none. */
export function findAuthorization(books: Books, requestId: string): Entry | undefined {
  const entry = books.entries.find(requestId);
  return entry?.kind === 'authorization' || entry?.kind === 'checkout' ? entry : undefined;
}

/** What of it is neither captured nor given back, minor units. */
export function remainingOf(authorization: Entry): number {
  return authorization.amount - authorization.captured - authorization.voided;
}

/** An effect that refuses for a reason of the sandbox's own. */
export function notPerformed(errorCode: string, errorMessage: string): Effect {
  return { answer: Answer.NOT_PERFORMED, errorCode, errorMessage };
}
