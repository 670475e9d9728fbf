import { notPerformed } from '../../../platform/adapter/ending.ts';
import { behaviourOf, type Effect } from '../behaviour.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';

/** The entry of an authorization or checkout, however it ended; undefined when there is none. */
export function findAuthorization(books: Books, requestId: string): Entry | undefined {
  const entry = books.entries.find(requestId);
  return entry?.kind === 'authorization' || entry?.kind === 'checkout' ? entry : undefined;
}

/** What of it is neither captured nor given back nor held back, minor units. */
export function remainingOf({ amount, incremented, captured, voided, pending }: Entry): number {
  return amount + incremented - captured - voided - pending;
}

/**
 * What of a capture is neither refunded nor taken back nor about to be refunded, minor units. A reversal that names no
 * capture leaves less than that of all captures together.
 */
export function refundableOf(authorization: Entry, capture: Entry): number {
  const ofAll = authorization.captured - authorization.refunded - authorization.reversed;
  return Math.min(capture.amount - capture.refunded - capture.reversed - capture.pending, ofAll);
}

/** Why nothing can be done with an authorization that somebody else ended; undefined = nobody did. */
export function endedElsewhere({ endedAtMs, behaviour }: Entry): Effect | undefined {
  if (endedAtMs === 0) return undefined;
  return behaviourOf(behaviour).ended?.as === 'voided'
    ? notPerformed('authorization_voided', 'The authorization was voided at the processor.')
    : notPerformed('authorization_expired', 'The authorization has ended.');
}
