import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { asksTheSame } from '../../../platform/adapter/identifier.ts';
import { RpcError } from '../../../platform/adapter/serve.ts';
import { wasCurrency } from '../../../platform/currencies.ts';
import { isReturnUrl } from '../../../platform/return-url.ts';
import type {
  CreateCheckoutRequest,
  CreateCheckoutResponse,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Checkout } from '../ledger/checkout.ts';
import { intentOf, NO_ENDING } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { addressOf, PAGE_PERIOD_MS, type Pages, wayBack } from './page.ts';

type Reply = Pick<CreateCheckoutResponse, 'checkoutUrl' | 'expiresAt'>;

/**
 * Opens a hosted page; a repeated request returns the same one. No page was opened when it returns an RpcError:
 * INVALID_ARGUMENT for a currency or return URL that cannot be used, FAILED_PRECONDITION `fenced`, ALREADY_EXISTS
 * `identifier_reused`. Thrown, it would undo other decisions of the same transaction.
 */
export function createCheckout(
  books: Books,
  request: CreateCheckoutRequest,
  pages: Pages & { readonly nowMs: number },
): Reply | RpcError {
  if (request.returnUrl !== '' && !isReturnUrl(request.returnUrl)) {
    return new RpcError(status.INVALID_ARGUMENT, 'return_url: must be https, or http on the loopback address');
  }
  if (!wasCurrency(request.currency)) return new RpcError(status.INVALID_ARGUMENT, 'currency: is not known');
  const checkout = earlier(books, request) ?? open(books, request, pages);
  if (checkout instanceof RpcError) return checkout;
  return {
    checkoutUrl: addressOf(books, request.requestId, pages),
    expiresAt: timestampFromMs(checkout.expiresAtMs),
  };
}

function earlier(books: Books, request: CreateCheckoutRequest): Checkout | RpcError | undefined {
  const entry = books.entries.find(request.requestId);
  if (!entry) return undefined;
  if (entry.kind === 'fence') return new RpcError(status.FAILED_PRECONDITION, 'fenced');
  const checkout = books.checkouts.find(request.requestId);
  const returnUrl = wayBack(request.returnUrl, request.requestId, entry.operationRequestId);
  const isSame = checkout?.returnUrl === returnUrl && checkout.saveCard === (request.saveCard ? 1 : 0);
  if (!checkout || !isSame || !asksTheSame(entry, intentOf('checkout', request))) {
    return new RpcError(status.ALREADY_EXISTS, 'identifier_reused');
  }
  return checkout;
}

function open(
  books: Books,
  request: CreateCheckoutRequest,
  { capabilities, nowMs }: Pages & { readonly nowMs: number },
): Checkout {
  const asked = request.expiresAt ? timestampMs(request.expiresAt) : Number.POSITIVE_INFINITY;
  const checkout: Checkout = {
    requestId: request.requestId,
    capabilityHash: capabilities.hashOf(capabilities.capabilityOf(request.requestId)),
    merchantName: request.merchantName,
    merchantReference: request.merchantReference,
    description: request.description,
    returnUrl: wayBack(request.returnUrl, request.requestId, request.operationRequestId),
    saveCard: request.saveCard ? 1 : 0,
    expiresAtMs: Math.min(asked, nowMs + PAGE_PERIOD_MS),
  };
  books.entries.insert(intentOf('checkout', request), { ...NO_ENDING, actedAtMs: nowMs });
  books.checkouts.insert(checkout);
  return checkout;
}
