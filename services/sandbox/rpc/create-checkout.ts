import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { code as currencyOf } from 'currency-codes';
import { asksTheSame } from '../../../platform/adapter/identifier.ts';
import { RpcError } from '../../../platform/adapter/serve.ts';
import { isReturnUrl, withRequestId } from '../../../platform/return-url.ts';
import type {
  CreateCheckoutRequest,
  CreateCheckoutResponse,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Capabilities } from '../checkout/capability.ts';
import type { Checkout } from '../ledger/checkout.ts';
import { intentOf, NO_ENDING } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';

/** No page stays open longer (docs/sandbox.md, "Checkout"). */
export const CHECKOUT_PERIOD_MS = 30 * 60 * 1000;

type Reply = Pick<CreateCheckoutResponse, 'checkoutUrl' | 'expiresAt'>;

/**
 * Opens a hosted page; a repeated request returns the same one. Throws RpcError: INVALID_ARGUMENT for a currency or
 * return URL that cannot be used, FAILED_PRECONDITION `fenced`, ALREADY_EXISTS `identifier_reused`: no page was opened.
 */
export function createCheckout(
  books: Books,
  request: CreateCheckoutRequest,
  page: { readonly baseUrl: string; readonly capabilities: Capabilities; readonly nowMs: number },
): Reply {
  if (request.returnUrl !== '' && !isReturnUrl(request.returnUrl)) {
    throw new RpcError(status.INVALID_ARGUMENT, 'return_url: must be https, or http on the loopback address');
  }
  if (!currencyOf(request.currency)) throw new RpcError(status.INVALID_ARGUMENT, 'currency: is not known');
  const capability = page.capabilities.capabilityOf(request.requestId);
  const hash = page.capabilities.hashOf(capability);
  const checkout = earlier(books, request, hash) ?? open(books, request, hash, page.nowMs);
  return {
    checkoutUrl: `${page.baseUrl}/checkout/${capability}`,
    expiresAt: timestampFromMs(checkout.expiresAtMs),
  };
}

function earlier(books: Books, request: CreateCheckoutRequest, hash: Buffer): Checkout | undefined {
  const entry = books.entries.find(request.requestId);
  if (!entry) return undefined;
  if (entry.kind === 'fence') throw new RpcError(status.FAILED_PRECONDITION, 'fenced');
  const checkout = books.checkouts.find(request.requestId);
  const returnUrl = returnUrlOf(request, entry.operationRequestId);
  const isSame = checkout?.returnUrl === returnUrl && checkout.saveCard === (request.saveCard ? 1 : 0);
  if (!checkout || !isSame || !asksTheSame(entry, intentOf('checkout', request))) {
    throw new RpcError(status.ALREADY_EXISTS, 'identifier_reused');
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
