import assert from 'node:assert/strict';
import { declined, notPerformed } from '../../../platform/adapter/ending.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Answer as AdyenAnswer } from '../api/client.ts';
import type { Desk } from '../desk.ts';
import type { Entry } from '../ledger/entry.ts';
import { APPROVED, type Ending } from './ending.ts';

/** A request to Adyen's Checkout API, without its key. */
interface Request {
  readonly path: string;
  readonly body: object;
}

const PATHS: { readonly [Kind in Entry['kind']]?: string } = {
  capture: 'captures',
  void: 'cancels',
  refund: 'refunds',
  increment: 'amountUpdates',
  extension: 'amountUpdates',
};

/**
 * What Adyen is sent for an operation: the same at every time. Its `reference` is our identifier, which notifications
 * repeat.
 */
export function requestOf(desk: Desk, entry: Entry, authorization: Entry | undefined): Request {
  const { kind, requestId: reference, currency } = entry;
  if (kind === 'authorization') return { path: '/payments', body: paymentOf(desk, entry) };
  assert(authorization, 'an operation is about an authorization');
  const merchantAccount = authorization.account || desk.merchantAccount;
  const value = kind === 'increment' || kind === 'extension' ? entry.total : entry.amount;
  const amount =
    kind === 'void' ? {} : { amount: { value: Number(value), currency: currency || authorization.currency } };
  return {
    path: `/payments/${encodeURIComponent(authorization.pspReference)}/${PATHS[kind]}`,
    body: { merchantAccount, reference, ...amount },
  };
}

/** A stored card is charged without its holder; the token belongs to the shopper, who is the merchant's user. */
function paymentOf({ merchantAccount, adjustments }: Desk, entry: Entry): object {
  const { requestId, amount, currency, tokenId, userId, account, merchantReference } = entry;
  return {
    merchantAccount: account || merchantAccount,
    reference: requestId,
    amount: { value: Number(amount), currency },
    paymentMethod: { type: 'scheme', storedPaymentMethodId: tokenId },
    shopperReference: userId,
    shopperInteraction: 'ContAuth',
    recurringProcessingModel: 'UnscheduledCardOnFile',
    additionalData: { manualCapture: 'true', ...(adjustments && { authorisationType: 'PreAuth' }) },
    ...(merchantReference !== '' && { merchantOrderReference: merchantReference }),
  };
}

/** What Adyen's answer says of an operation; undefined when that is not known. */
export function readAnswer({ kind }: Entry, answer: AdyenAnswer): Ending | undefined {
  const { pspReference } = answer;
  if (kind === 'authorization') return readPayment(answer);
  if (answer.status !== 'received' || pspReference === '') return undefined;
  return { answer: Answer.ACCEPTED, pspReference };
}

/** docs.adyen.com/online-payments/build-your-integration/payment-result-codes */
function readPayment(answer: AdyenAnswer): Ending | undefined {
  const { pspReference, resultCode, refusalReason, refusalReasonCode } = answer;
  switch (resultCode) {
    case 'Authorised':
      return pspReference === '' ? undefined : { ...APPROVED, pspReference, ...cardOf(answer) };
    case 'Refused':
      return { ...declined(codeOf(refusalReason, refusalReasonCode), refusalReason), pspReference };
    case 'Error':
    case 'Cancelled':
      return { ...notPerformed(codeOf(refusalReason, resultCode), refusalReason), pspReference };
    case 'Received':
    case 'Pending':
      return { answer: Answer.ACCEPTED, pspReference };
    case 'RedirectShopper':
    case 'IdentifyShopper':
    case 'ChallengeShopper':
      return { ...declined('authentication_required', 'The issuer asks the customer to authenticate.'), pspReference };
    default:
      return undefined;
  }
}

/** "Not enough balance" → not_enough_balance. */
export function codeOf(reason: string, otherwise: string): string {
  const words = reason
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  return words || otherwise.toLowerCase() || 'refused';
}

function cardOf({ paymentMethod, additionalData }: AdyenAnswer) {
  const [month = '', year = ''] = String(additionalData.expiryDate ?? '').split('/');
  const last4 = String(additionalData.cardSummary ?? '');
  if (!/^\d{4}$/.test(last4) || !/^(0?[1-9]|1[0-2])$/.test(month) || !/^20\d\d$/.test(year)) return {};
  return {
    cardBrand: paymentMethod.brand.slice(0, 32).toLowerCase(),
    cardLast4: last4,
    cardExpiryMonth: Number(month),
    cardExpiryYear: Number(year),
  };
}
