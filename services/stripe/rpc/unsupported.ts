import type {
  CreditRequest,
  ExtendAuthorizationRequest,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { NO_INTENT } from '../ledger/entry.ts';
import { notPerformed } from '../settlement/ending.ts';
import { conclude } from './recall.ts';
import { type ResultInit, resultOf } from './result.ts';

/** An OCT: Stripe pays to cards of its own connected accounts only, not to the card behind a token. */
export async function credit(desk: Desk, request: CreditRequest): Promise<ResultInit> {
  const { requestId, merchantId, account, terminalId, userId, tokenId, amount, currency } = request;
  const who = { merchantId, account, terminalId, userId, tokenId };
  const ending = notPerformed(desk.now(), 'not_supported', 'Stripe cannot pay to the card of a token.');
  const intent = { ...NO_INTENT, requestId, kind: 'credit' as const, ...who, amount, currency };
  const { refused, entry } = await conclude(desk, intent, ending);
  return refused ?? resultOf(entry);
}

/** Stripe decides at the authorization how long it lasts. */
export async function extend(desk: Desk, request: ExtendAuthorizationRequest): Promise<ResultInit> {
  const { requestId, authorizationRequestId, merchantId, account } = request;
  const ending = notPerformed(desk.now(), 'not_supported', 'Stripe does not extend an authorization.');
  const intent = { ...NO_INTENT, requestId, kind: 'extension' as const, authorizationRequestId, merchantId, account };
  const { refused, entry } = await conclude(desk, intent, ending);
  return refused ?? resultOf(entry);
}
