import type { AuthorizeRequest } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Intent } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';
import { conclude, type Outcome } from './outcome.ts';
import { placingOf } from './placing.ts';
import { recall } from './recall.ts';

/** Reserves an amount on the card of a token. */
export function authorize(books: Books, request: AuthorizeRequest, nowMs: number): Outcome {
  const intent: Intent = {
    requestId: request.requestId,
    kind: 'authorization',
    authorizationRequestId: '',
    merchantId: request.merchantId,
    terminalId: request.terminalId,
    userId: request.userId,
    tokenId: request.tokenId,
    amount: Number(request.amount),
    currency: request.currency,
    finalCapture: 0,
  };
  return recall(books, intent) ?? conclude(books, intent, { ...placingOf(books, intent), nowMs });
}
