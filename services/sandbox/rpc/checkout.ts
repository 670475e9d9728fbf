import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { asksTheSame } from '../../../platform/adapter/identifier.ts';
import { RpcError } from '../../../platform/adapter/serve.ts';
import { wasCurrency } from '../../../platform/currencies.ts';
import { isReturnUrl, withRequestId } from '../../../platform/return-url.ts';
import {
  Answer,
  type CreateCheckoutRequest,
  type CreateCheckoutResponse,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Capabilities } from '../checkout/capability.ts';
import type { Checkout } from '../ledger/checkout.ts';
import { type Entry, intentOf, NO_ENDING } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { carryOut } from './outcome.ts';

/** No page stays open longer (docs/sandbox.md, "Checkout"). */
export const CHECKOUT_PERIOD_MS = 30 * 60 * 1000;

type Reply = Pick<CreateCheckoutResponse, 'checkoutUrl' | 'expiresAt'>;

/**
 * Opens a hosted page; a repeated request returns the same one. No page was opened when it returns an RpcError:
 * INVALID_ARGUMENT for a currency or return URL that cannot be used, FAILED_PRECONDITION `fenced`, ALREADY_EXISTS
 * `identifier_reused`. Thrown, it would undo other decisions of the same transaction.
 */
export function createCheckout(
  books: Books,
  request: CreateCheckoutRequest,
  page: { readonly baseUrl: string; readonly capabilities: Capabilities; readonly nowMs: number },
): Reply | RpcError {
  if (request.returnUrl !== '' && !isReturnUrl(request.returnUrl)) {
    return new RpcError(status.INVALID_ARGUMENT, 'return_url: must be https, or http on the loopback address');
  }
  if (!wasCurrency(request.currency)) return new RpcError(status.INVALID_ARGUMENT, 'currency: is not known');
  const capability = page.capabilities.capabilityOf(request.requestId);
  const hash = page.capabilities.hashOf(capability);
  const checkout = earlier(books, request, hash) ?? open(books, request, hash, page.nowMs);
  if (checkout instanceof RpcError) return checkout;
  return {
    checkoutUrl: `${page.baseUrl}/checkout/${capability}`,
    expiresAt: timestampFromMs(checkout.expiresAtMs),
  };
}

function earlier(books: Books, request: CreateCheckoutRequest, hash: Buffer): Checkout | RpcError | undefined {
  const entry = books.entries.find(request.requestId);
  if (!entry) return undefined;
  if (entry.kind === 'fence') return new RpcError(status.FAILED_PRECONDITION, 'fenced');
  const checkout = books.checkouts.find(request.requestId);
  const returnUrl = returnUrlOf(request, entry.operationRequestId);
  const isSame = checkout?.returnUrl === returnUrl && checkout.saveCard === (request.saveCard ? 1 : 0);
  if (!checkout || !isSame || !asksTheSame(entry, intentOf('checkout', request))) {
    return new RpcError(status.ALREADY_EXISTS, 'identifier_reused');
  }
  // The credential that capabilities derive from was changed in between: the new address replaces the old.
  if (!hash.equals(checkout.capabilityHash)) books.checkouts.rehash(request.requestId, hash);
  return checkout;
}

function open(books: Books, request: CreateCheckoutRequest, capabilityHash: Buffer, nowMs: number): Checkout {
  const asked = request.expiresAt ? timestampMs(request.expiresAt) : Number.POSITIVE_INFINITY;
  const checkout: Checkout = {
    requestId: request.requestId,
    capabilityHash,
    merchantName: request.merchantName,
    merchantReference: request.merchantReference,
    description: request.description,
    returnUrl: returnUrlOf(request, request.operationRequestId),
    saveCard: request.saveCard ? 1 : 0,
    expiresAtMs: Math.min(asked, nowMs + CHECKOUT_PERIOD_MS),
  };
  books.entries.insert(intentOf('checkout', request), { ...NO_ENDING, actedAtMs: nowMs });
  books.checkouts.insert(checkout);
  return checkout;
}

/** Where the page leads the customer: back to the merchant, with core's name of the hold. */
function returnUrlOf({ returnUrl, requestId }: CreateCheckoutRequest, operationRequestId: string): string {
  return returnUrl && withRequestId(returnUrl, operationRequestId || requestId);
}

/** Error codes of a checkout that ended without a card. */
export const CHECKOUT_CANCELLED = 'checkout_cancelled';
export const CHECKOUT_EXPIRED = 'checkout_expired';

/** Ends an open checkout without a card. */
export function cancelCheckout(books: Books, entry: Entry, by: 'merchant' | 'customer', nowMs: number): void {
  close(books, entry, CHECKOUT_CANCELLED, `The ${by} cancelled the checkout.`, nowMs);
}

/** Ends a checkout without a card when its time is over. Returns the entry as it is then. */
export function expireCheckout(books: Books, entry: Entry, nowMs: number): Entry {
  if (entry.answer !== Answer.UNSPECIFIED) return entry;
  const { expiresAtMs = 0 } = books.checkouts.find(entry.requestId) ?? {};
  if (nowMs < expiresAtMs) return entry;
  return close(books, entry, CHECKOUT_EXPIRED, 'The customer did not complete the checkout in time.', nowMs);
}

function close(books: Books, entry: Entry, errorCode: string, why: string, nowMs: number): Entry {
  const ending = carryOut(books, entry, { effect: notPerformed(errorCode, why), nowMs });
  books.entries.end(entry.requestId, ending);
  return { ...entry, ...ending };
}
