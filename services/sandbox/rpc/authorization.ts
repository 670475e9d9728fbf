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
