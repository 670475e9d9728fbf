/**
 * Adyen's Checkout API as its documentation describes it, as far as the adapter uses it: /payments answers at once,
 * modifications answer `received`, and what became of them is notified. What a stored card does is in its name.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signatureOf } from '../../../../services/adyen/webhook/hmac.ts';
import { type Issuer, openIssuer } from './issuer.ts';
import { violationsOf } from './openapi.ts';
import type { Item, Payment } from './payment.ts';

export const API_KEY = 'AQE_a_key_of_the_fake_Adyen';
export const MERCHANT_ACCOUNT = 'AcmeECOM';
export const HMAC_KEY = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';

/** What happens to the next requests instead of an answer. */
export type Fault = 'lost' | 'answerLost' | 'failed' | 'limited' | 'forbidden';

export interface FakeAdyen {
  readonly origin: string;
  readonly payments: Map<string, Payment>;
  /** What is to be notified, oldest first. */
  readonly items: Item[];
  /** Requests by path, with their key. */
  readonly requests: { readonly path: string; readonly key: string; readonly body: PaymentBody }[];
  /** What of the requests breaks Adyen's OpenAPI document, where that is there. */
  readonly violations: string[];
  /** Faults of the next requests, one each. */
  readonly faults: Fault[];
  /** Where customers are authenticated: `/issuer/<pspReference>?does=confirm` or `refuse`. */
  readonly issuer: Issuer;
  /** Called with the path of each request before it is looked at. */
  onRequest: (path: string) => void;
  /** Called with each new item. */
  onItem: (item: Item) => void;
  /** Something that is done in the Customer Area, by the card scheme or by Adyen itself. */
  notify(eventCode: string, payment: Payment, change?: Partial<Item>): Item;
  close(): Promise<void>;
}

interface Stored {
  readonly status: number;
  readonly body: object;
}

class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const pspReference = () => randomBytes(8).toString('hex').toUpperCase();

/** Starts the fake on a free port. */
export async function startFakeAdyen(): Promise<FakeAdyen> {
  const keys = new Map<string, Stored | 'in progress'>();
  const fake: FakeAdyen = {
    origin: '',
    payments: new Map(),
    items: [],
    requests: [],
    violations: [],
    faults: [],
    issuer: openIssuer(),
    onRequest: () => undefined,
    onItem: () => undefined,
    notify(eventCode, payment, change = {}) {
      const item = {
        pspReference: pspReference(),
        originalReference: payment.pspReference,
        merchantAccountCode: MERCHANT_ACCOUNT,
        merchantReference: '',
        eventCode,
        success: 'true',
        reason: '',
        eventDate: new Date().toISOString(),
        amount: { value: payment.captured || payment.authorised, currency: payment.currency },
        ...change,
      };
      const signed = { ...item, additionalData: { hmacSignature: signatureOf(item, HMAC_KEY) } };
      fake.items.push(signed);
      fake.onItem(signed);
      return signed;
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const [, pspReference = '', does = ''] = /^\/issuer\/(\w+)(?:\?does=(\w+))?$/.exec(path) ?? [];
    if (pspReference !== '' && does === '') {
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="?does=confirm">Confirm</a>');
    }
    if (pspReference !== '') {
      return void response.writeHead(302, { location: fake.issuer.answer(pspReference, does) }).end();
    }
    const key = String(request.headers['idempotency-key'] ?? '');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body: PaymentBody = JSON.parse(Buffer.concat(chunks).toString());
    fake.requests.push({ path, key, body });
    fake.onRequest(path);
    fake.violations.push(...violationsOf(path, body));
    const fault = fake.faults.shift();
    if (fault === 'lost') return void request.socket.destroy();
    const answer = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    if (fault === 'limited') return void answer(429, {});
    if (fault === 'forbidden' || request.headers['x-api-key'] !== API_KEY) return void answer(fault ? 403 : 401, {});
    if (fault === 'failed') return void answer(500, { errorCode: '905' });
    const known = keys.get(key);
    if (known === 'in progress') {
      return void answer(422, { errorCode: '704', message: 'request already processed or in progress' });
    }
    if (!known) keys.set(key, 'in progress');
    const stored = known ?? perform(fake, path, body);
    keys.set(key, stored);
    if (fault === 'answerLost') return void request.socket.destroy();
    answer(stored.status, stored.body, { 'idempotency-key': key });
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(fake, { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** A request, as far as the fake reads it. */
interface PaymentBody {
  readonly merchantAccount: string;
  readonly reference: string;
  readonly amount?: { readonly value: number; readonly currency: string };
  readonly paymentMethod?: { readonly storedPaymentMethodId: string };
  readonly returnUrl?: string;
  readonly shopperReference?: string;
  readonly shopperInteraction?: string;
  readonly recurringProcessingModel?: string;
  readonly additionalData?: Record<string, string>;
  readonly industryUsage?: string;
  readonly browserInfo?: Readonly<Record<string, unknown>>;
  readonly channel?: string;
  readonly origin?: string;
  readonly shopperIP?: string;
  readonly authenticationData?: { readonly attemptAuthentication?: string };
  readonly details?: { readonly redirectResult?: string };
}

/** What Adyen demands of a request, in Live at least (in Test it takes a payment without a returnUrl). */
function demandFields(what: string, body: PaymentBody): void {
  const amount = what === 'cancels' ? [] : (['amount'] as const);
  const ofPayment = what === '' ? (['paymentMethod', 'reference', 'returnUrl'] as const) : [];
  for (const field of ['merchantAccount', ...amount, ...ofPayment] as const) {
    if (!body[field]) throw new Refusal('130', `Required field '${field}' is not provided.`);
  }
  const { returnUrl, shopperReference } = body;
  if (returnUrl !== undefined && !/^https?:\/\/[^\s/]/.test(returnUrl)) throw new Refusal('130', 'Invalid return URL');
  if (what === '' && ((shopperReference ?? '').length < 3 || (shopperReference ?? '').length > 256)) {
    throw new Refusal('130', "Field 'shopperReference' must have 3 to 256 characters.");
  }
  const token = body.paymentMethod?.storedPaymentMethodId ?? '';
  if (token.length > 64) throw new Refusal('130', "Field 'storedPaymentMethodId' has at most 64 characters.");
}

function perform(fake: FakeAdyen, path: string, body: PaymentBody): Stored {
  try {
    const [, , psp = '', what = ''] = path.split('/');
    if (psp === 'details') {
      const result = fake.issuer.resultOf(body.details?.redirectResult);
      if (!result) throw new Refusal('702', 'Unable to decrypt data');
      return { status: 200, body: result };
    }
    demandFields(what, body);
    const answer = psp === '' ? authorise(fake, body) : modify(fake, psp, what, body);
    return { status: psp === '' ? 200 : 201, body: answer };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      status: 422,
      body: { status: 422, errorCode: error.code, message: error.message, errorType: 'validation' },
    };
  }
}

/** What Adyen demands of a payment whose customer it shall send to the issuer. */
function demandBrowser(body: PaymentBody): void {
  for (const field of ['origin', 'shopperIP'] as const) {
    if (!body[field]) throw new Refusal('130', `Required field '${field}' is not provided.`);
  }
  if (body.channel !== 'Web') throw new Refusal('130', "Field 'channel' must be Web.");
}

function authorise(fake: FakeAdyen, body: PaymentBody): object {
  const { merchantAccount, reference, amount, paymentMethod, additionalData, browserInfo } = body;
  assert.equal(additionalData?.manualCapture, 'true');
  assert(amount);
  const token = paymentMethod?.storedPaymentMethodId ?? '';
  if (!token.startsWith('stored_')) throw new Refusal('800', 'Contract not found');
  const payment: Payment = {
    pspReference: pspReference(),
    reference,
    token,
    currency: amount.currency,
    authorised: amount.value,
    captured: 0,
    refunded: 0,
    cancelled: false,
    expired: false,
  };
  const psp = { pspReference: payment.pspReference, merchantReference: reference };
  const about = { ...psp, originalReference: '', merchantAccountCode: merchantAccount, amount };
  const refused = { resultCode: 'Refused', refusalReason: 'Not enough balance', refusalReasonCode: '12' };
  const isAsked = token.startsWith('stored_challenge') || body.authenticationData?.attemptAuthentication === 'always';
  if (browserInfo && isAsked) {
    demandBrowser(body);
    const action = fake.issuer.wait(fake.origin, {
      payment,
      returnUrl: body.returnUrl ?? '',
      notify: (change) => fake.notify('AUTHORISATION', payment, { ...about, ...change }),
      authorise: () => fake.payments.set(payment.pspReference, payment),
      card: { amount, ...CARD, additionalData: CARDS.stored_authenticated },
    });
    return { ...psp, resultCode: 'RedirectShopper', action };
  }
  if (token === 'stored_refused') {
    fake.notify('AUTHORISATION', payment, { ...about, success: 'false', reason: 'Not enough balance' });
    return { ...psp, ...refused, ...CARD, additionalData: { ...DEBIT, refusalReasonRaw: '51 : Insufficient funds' } };
  }
  if (token === 'stored_error') return { ...psp, resultCode: 'Error', refusalReason: 'Acquirer Error' };
  if (token === 'stored_challenge') return { ...psp, resultCode: 'ChallengeShopper', action: {} };
  fake.payments.set(payment.pspReference, payment);
  fake.notify('AUTHORISATION', payment, about);
  // The customer finds a way all the same: Adyen authorises by itself once the issuer has authenticated it.
  if (token === 'stored_challenge_passed') return { ...psp, resultCode: 'RedirectShopper', action: {} };
  if (token === 'stored_pending') return { ...psp, resultCode: 'Received' };
  if (token === 'stored_expires') expire(fake, payment);
  const authorised = token === 'stored_partly' ? { ...amount, value: amount.value / 2 } : amount;
  return { ...psp, resultCode: 'Authorised', amount: authorised, ...CARD, additionalData: CARDS[token] ?? DEBIT };
}

const CARD = { paymentMethod: { type: 'scheme', brand: 'visa' } };
const DEBIT = {
  cardSummary: '1111',
  expiryDate: '03/2030',
  fundingSource: 'DEBIT',
  networkTxReference: '123456789012345',
};
const OFFERED = { ...DEBIT, threeDOffered: 'true', threeDAuthenticated: 'false' };

/** What Adyen adds to an answer, by token. */
const CARDS: Readonly<Record<string, Record<string, string>>> = {
  stored_silent: {},
  stored_charge: { ...DEBIT, fundingSource: 'CHARGE' },
  stored_prepaid: { ...DEBIT, fundingSource: 'PREPAID_RELOADABLE' },
  stored_authenticated: { ...DEBIT, threeDOffered: 'true', threeDAuthenticated: 'true', liabilityShift: 'true' },
  stored_attempted: { ...OFFERED, liabilityShift: 'true' },
  stored_failed: { ...OFFERED, liabilityShift: 'false' },
};

function expire(fake: FakeAdyen, payment: Payment): void {
  payment.expired = true;
  fake.notify('EXPIRE', payment, { amount: { value: payment.authorised, currency: payment.currency } });
}

const EVENTS: Readonly<Record<string, string>> = {
  captures: 'CAPTURE',
  cancels: 'CANCELLATION',
  refunds: 'REFUND',
  amountUpdates: 'AUTHORISATION_ADJUSTMENT',
};

/** Judged when it is carried out, later: an answer says `received` only. */
function modify(fake: FakeAdyen, psp: string, what: string, body: PaymentBody): object {
  const payment = fake.payments.get(psp);
  const eventCode = EVENTS[what];
  if (!payment || !eventCode) throw new Refusal('167', 'Original pspReference required for this operation');
  const { merchantAccount, reference, amount = { value: payment.authorised, currency: payment.currency } } = body;
  const own = { pspReference: pspReference(), merchantReference: reference };
  const fault =
    payment.token === `stored_${what}_fail` ? 'Declined by the scheme' : faultOf(payment, what, amount.value);
  if (fault === undefined) apply(payment, what, amount.value);
  fake.notify(eventCode, payment, { ...own, amount, success: String(fault === undefined), reason: fault ?? '' });
  if (fault === undefined) follow(fake, payment, what, { ...own, amount });
  return {
    merchantAccount,
    paymentPspReference: psp,
    reference,
    pspReference: own.pspReference,
    status: 'received',
    amount,
  };
}

function faultOf(payment: Payment, what: string, value: number): string | undefined {
  const { authorised, captured, refunded, cancelled, expired } = payment;
  if (what === 'refunds') return value > captured - refunded ? 'Insufficient balance on payment' : undefined;
  if (cancelled || expired || captured > 0) return 'Transaction is not in an authorised state';
  return what === 'captures' && value > authorised ? 'Insufficient balance on payment' : undefined;
}

function apply(payment: Payment, what: string, value: number): void {
  if (what === 'captures') payment.captured = value;
  if (what === 'cancels') payment.cancelled = true;
  if (what === 'refunds') payment.refunded += value;
  if (what === 'amountUpdates') payment.authorised = value;
}

/** What the card scheme does afterwards. */
function follow(fake: FakeAdyen, payment: Payment, what: string, own: Partial<Item>): void {
  const { token, captured, currency } = payment;
  const disputed = (value: number) => fake.notify('CHARGEBACK', payment, { amount: { value, currency } });
  if (what === 'captures') {
    if (token === 'stored_capture_fails_later') fake.notify('CAPTURE_FAILED', payment, own);
    if (token === 'stored_disputed') disputed(captured);
    if (token === 'stored_disputed_in_part') disputed(Math.floor(captured / 2));
    if (token === 'stored_dispute_won') {
      const { pspReference, amount } = disputed(captured);
      fake.notify('CHARGEBACK_REVERSED', payment, { pspReference, amount });
    }
  }
  if (what === 'refunds' && token === 'stored_refund_fails_later') fake.notify('REFUND_FAILED', payment, own);
}
