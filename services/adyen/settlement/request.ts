import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { keptCard, keptNetworkId } from '../../../platform/adapter/card.ts';
import { declined, notPerformed } from '../../../platform/adapter/ending.ts';
import type { KeptResult } from '../../../platform/adapter/entry.ts';
import { Answer, MerchantReason } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { fromAdyen, toAdyen } from '../amount.ts';
import type { Answer as AdyenAnswer } from '../api/client.ts';
import type { Browser, Entry } from '../ledger/entry.ts';
import type { PageAddresses } from '../page/addresses.ts';
import { APPROVED, type Ending } from './settle.ts';

/** A request to Adyen's Checkout API, with its idempotency key. */
export interface Request {
  readonly path: string;
  readonly body: object;
  readonly key: string;
}

const PATHS: { readonly [Kind in Entry['kind']]?: string } = {
  capture: 'captures',
  void: 'cancels',
  refund: 'refunds',
  increment: 'amountUpdates',
  decrease: 'amountUpdates',
  extension: 'amountUpdates',
};

/**
 * What Adyen is sent for an operation: the same at every time. Its `reference` is our identifier, which notifications
 * repeat.
 */
export function requestOf(context: Context, entry: Entry, authorization: Entry | undefined): Request {
  const { kind, requestId: reference, currency } = entry;
  if (kind === 'authorization') return { path: '/payments', body: paymentOf(context, entry), key: reference };
  assert(authorization, 'an operation is about an authorization');
  const merchantAccount = authorization.account || context.merchantAccount;
  const value = PATHS[kind] === 'amountUpdates' ? entry.total : entry.amount;
  const amount = kind === 'void' ? {} : { amount: amountOf(value, currency || authorization.currency) };
  return {
    path: `/payments/${encodeURIComponent(authorization.pspReference)}/${PATHS[kind]}`,
    body: { merchantAccount, reference, ...amount },
    key: reference,
  };
}

/** What cannot be sent was refused before it was stored to be sent. */
function amountOf(amount: bigint, currency: string) {
  const value = toAdyen(amount, currency);
  assert(value !== undefined, 'Adyen can take the amount');
  return { value, currency };
}

/** The shopper is there, or has agreed that the merchant charges the stored card. */
const PRESENT = { shopperInteraction: 'Ecommerce', recurringProcessingModel: 'CardOnFile' };
const ABSENT = { shopperInteraction: 'ContAuth', recurringProcessingModel: 'UnscheduledCardOnFile' };

/** The reasons of a merchant that Adyen has a word for. It links stored cards to the customer's own payment by itself. */
const USAGES: { readonly [Reason in MerchantReason]?: string } = {
  [MerchantReason.DELAYED_CHARGE]: 'delayedCharge',
  [MerchantReason.NO_SHOW]: 'noShow',
};

/** A stored card is charged; the token belongs to the shopper, who is the merchant's user. */
function paymentOf({ merchantAccount, returnUrl, adjustments, pages }: Context, entry: Entry): object {
  const { requestId, amount, currency, tokenId, userId, account, merchantReference, customerPresent } = entry;
  const usage = USAGES[entry.merchantReason as MerchantReason];
  return {
    merchantAccount: account || merchantAccount,
    reference: requestId,
    amount: amountOf(amount, currency),
    paymentMethod: { type: 'scheme', storedPaymentMethodId: tokenId },
    returnUrl,
    shopperReference: shopperOf(userId),
    ...(customerPresent ? PRESENT : ABSENT),
    ...(usage !== undefined && !customerPresent && { industryUsage: usage }),
    additionalData: { manualCapture: 'true', ...(adjustments && { authorisationType: 'PreAuth' }) },
    ...(merchantReference !== '' && { merchantOrderReference: merchantReference }),
    ...(pages && entry.browser && inBrowser(pages, entry, entry.browser)),
  };
}

/**
 * What lets the issuer authenticate the customer on a page that the customer is sent to
 * (docs.adyen.com/online-payments/3d-secure/redirect-3ds2).
 */
function inBrowser(pages: PageAddresses, { requestId, challenge }: Entry, browser: Browser): object {
  return {
    ...browser,
    channel: 'Web',
    origin: pages.origin,
    returnUrl: `${pages.of(requestId)}/return`,
    redirectFromIssuerMethod: 'GET',
    ...(challenge && ALWAYS),
  };
}

const ALWAYS = {
  authenticationData: { attemptAuthentication: 'always' },
  threeDS2RequestData: { threeDSRequestorChallengeInd: '04' },
};

/** Adyen's shorter references are invalid. */
const SHORTEST_SHOPPER = 3;

/**
 * Adyen's reference of a user. A `userId` that is too short becomes `u` and the SHA-256 of it in hexadecimal digits,
 * which is longer than any `userId`, so it can be no other user's.
 */
export function shopperOf(userId: string): string {
  if ([...userId].length >= SHORTEST_SHOPPER) return userId;
  return `u${createHash('sha256').update(userId).digest('hex')}`;
}

/** What Adyen's answer says of an operation; undefined when that is not known. */
export function readAnswer(entry: Entry, answer: AdyenAnswer): Ending | undefined {
  const { pspReference } = answer;
  if (entry.kind === 'authorization') {
    const ending = readPayment(entry, answer);
    return ending?.answer === Answer.APPROVED ? { ...ending, amountDone: authorisedOtherwise(entry, answer) } : ending;
  }
  if (answer.status !== 'received' || pspReference === '') return undefined;
  return { answer: Answer.ACCEPTED, pspReference };
}

/** What was authorised, minor units, when it is not what was asked for; null otherwise. */
function authorisedOtherwise({ amount, currency }: Entry, answer: AdyenAnswer): bigint | null {
  const said = answer.amount?.currency === currency ? fromAdyen(answer.amount) : undefined;
  return said === undefined || said === amount ? null : said;
}

/** docs.adyen.com/online-payments/build-your-integration/payment-result-codes */
function readPayment(entry: Entry, answer: AdyenAnswer): Ending | undefined {
  const { pspReference, resultCode, refusalReason, refusalReasonCode } = answer;
  switch (resultCode) {
    case 'Authorised':
      if (pspReference === '') return undefined;
      return {
        ...APPROVED,
        pspReference,
        ...cardOf(answer),
        ...keptNetworkId(answer.additionalData.networkTxReference),
      };
    case 'Refused':
      return { ...refusalOf(entry, refusalReason, refusalReasonCode, cardOf(answer)), pspReference };
    case 'Error':
    case 'Cancelled':
      if (entry.stage !== '' && resultCode === 'Cancelled') {
        return { ...refusalOf(entry, resultCode, '', cardOf(answer)), pspReference };
      }
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

/** Adyen's reasons that are about the customer rather than the card. */
const NOT_AUTHENTICATED = /^(3d not authenticated|(shopper )?cancelled)$/i;

/** That an authorization was refused, for a reason in Adyen's words; `otherwise`: Adyen's code of it. */
export function refusalOf({ stage }: Entry, reason: string, otherwise: string, card: Partial<KeptResult> = {}): Ending {
  const isAboutCustomer = stage !== '' && NOT_AUTHENTICATED.test(reason);
  return declined(isAboutCustomer ? 'authentication_failed' : codeOf(reason, otherwise), reason, card);
}

/** "Not enough balance" → not_enough_balance. */
export function codeOf(reason: string, otherwise: string): string {
  const words = reason
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  return words || otherwise.toLowerCase() || 'refused';
}

/** Adyen adds these where the merchant account's settings say so (docs.adyen.com, "Additional data"). */
function cardOf({ paymentMethod, additionalData }: AdyenAnswer): Partial<KeptResult> {
  const said = (name: string) => String(additionalData[name] ?? '');
  const [month, year] = said('expiryDate').split('/').map(Number);
  return keptCard({
    brand: paymentMethod.brand,
    last4: said('cardSummary'),
    expiryMonth: month ?? 0,
    expiryYear: year ?? 0,
    funding: said('fundingSource'),
    threeDSecure: threeDSecureOf(said),
    // "51 : Insufficient funds"
    declineCode: said('refusalReasonRaw').split(/\s*:/)[0],
  });
}

/** An authentication that was only attempted shifts the liability, too. */
function threeDSecureOf(said: (name: string) => string) {
  if (said('threeDAuthenticated') === 'true') return 'authenticated';
  if (said('threeDOffered') !== 'true') return undefined;
  return said('liabilityShift') === 'true' ? 'attempted' : 'failed';
}
