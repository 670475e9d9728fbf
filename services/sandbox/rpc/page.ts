/** The pages that customers go to: a checkout's, or the issuer's of an authorization that waits for its customer. */
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { withRequestId } from '../../../platform/return-url.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Capabilities } from '../checkout/capability.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { carryOut } from './outcome.ts';

/** No page stays open longer (docs/sandbox.md, "Checkout"). */
export const PAGE_PERIOD_MS = 30 * 60 * 1000;

/** How the pages are reached. */
export interface Pages {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly capabilities: Capabilities;
}

/** The address of a page. When the credential that capabilities derive from was changed, it replaces the old one. */
export function addressOf(books: Books, requestId: string, { baseUrl, capabilities }: Pages): string {
  const capability = capabilities.capabilityOf(requestId);
  const hash = capabilities.hashOf(capability);
  const known = books.checkouts.find(requestId);
  if (known && !hash.equals(known.capabilityHash)) books.checkouts.rehash(requestId, hash);
  return `${baseUrl}/checkout/${capability}`;
}

/** Where a page leads the customer: back to the merchant, with core's name of the hold. */
export function wayBack(returnUrl: string, requestId: string, operationRequestId: string): string {
  return returnUrl && withRequestId(returnUrl, operationRequestId || requestId);
}

/** Returns whether the page of an authorization is open, as far as its time is not over. */
export function hasOpenPage(books: Books, entry: Pick<Entry, 'kind' | 'answer' | 'requestId'>): boolean {
  if (entry.kind === 'checkout') return entry.answer === Answer.UNSPECIFIED;
  const isAccepted = entry.kind === 'authorization' && entry.answer === Answer.ACCEPTED;
  return isAccepted && books.cardTries.find(entry.requestId)?.state === 'challenged';
}

type By = 'merchant' | 'customer';

/** How pages of each kind end without a card or its authentication. */
const ENDS = {
  checkout: {
    cancelled: (by: By) => notPerformed('checkout_cancelled', `The ${by} cancelled the checkout.`),
    expired: notPerformed('checkout_expired', 'The customer did not complete the checkout in time.'),
  },
  authorization: {
    cancelled: (by: By) => notPerformed('authentication_cancelled', `The ${by} cancelled the authentication.`),
    expired: notPerformed('authentication_expired', 'The customer was not authenticated in time.'),
  },
};

const endsOf = ({ kind }: Pick<Entry, 'kind'>) => (kind === 'checkout' ? ENDS.checkout : ENDS.authorization);

/** How the page of an entry was closed; undefined = it was not. */
export function closedAs(entry: Pick<Entry, 'kind' | 'errorCode'>): 'cancelled' | 'expired' | undefined {
  const { cancelled, expired } = endsOf(entry);
  if (entry.errorCode === expired.errorCode) return 'expired';
  return entry.errorCode === cancelled('merchant').errorCode ? 'cancelled' : undefined;
}

/** Closes an open page. */
export function cancelPage(books: Books, entry: Entry, by: By, nowMs: number): void {
  close(books, entry, endsOf(entry).cancelled(by), nowMs);
}

/** Closes an open page when its time is over. Returns the entry as it is then. */
export function expirePage(books: Books, entry: Entry, nowMs: number): Entry {
  if (!hasOpenPage(books, entry)) return entry;
  const { expiresAtMs = 0 } = books.checkouts.find(entry.requestId) ?? {};
  return nowMs < expiresAtMs ? entry : close(books, entry, endsOf(entry).expired, nowMs);
}

function close(books: Books, entry: Entry, effect: ReturnType<typeof notPerformed>, nowMs: number): Entry {
  const ending = carryOut(books, entry, { effect, nowMs });
  books.entries.end(entry.requestId, ending);
  if (entry.kind === 'authorization') books.events.insert('operationSettled', entry.requestId, nowMs);
  return { ...entry, ...ending };
}
