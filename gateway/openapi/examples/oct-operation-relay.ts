import { answerLost, type Draft, ID, MERCHANT_ID, ORDER, operationOf, paymentMethodData, streamOf } from './example.ts';
import { capture, finalCapture } from './preauthorization.ts';

/** A payout. */
export const oct = {
  requestId: ID.oct,
  status: 'OK',
  amount: 2500,
  merchantId: MERCHANT_ID,
  ...ORDER,
  merchantReference: 'payout-7',
  paymentMethodData,
  reference: 'sbx_RRYBPHqCg9rj4qcb',
  bankReference: 'BNK0F73C6317F175EF8',
  createdAt: '2026-11-21T14:00:00.000Z',
  finalStateDate: '2026-11-21T14:00:00.090Z',
};

/** The results of a hold's captures. */
export const captured = operationOf(capture, 'order-1001');
export const lastCaptured = operationOf(finalCapture, 'order-1001');

/** After the holds: a payout, the results of it all, and a notification of another sender. */
export const OTHER_EXAMPLES: readonly Draft[] = [
  {
    route: 'createOct',
    name: 'payout',
    summary: 'A payment to a card',
    parameters: { 'Idempotency-Key': 'payout-7' },
    body: { tokenId: 'tok_sandbox_ok', amount: 2500, ...ORDER, merchantReference: 'payout-7' },
    status: 201,
    answer: oct,
  },
  answerLost(
    { route: 'createOct', body: { tokenId: 'tok_sandbox_timeout_applied', amount: 2500, ...ORDER } },
    { requestId: ID.unknownOct },
  ),
  { route: 'getOct', name: 'paid', summary: 'Paid', parameters: { requestId: ID.oct }, answer: oct },
  {
    route: 'listOperations',
    name: 'captures',
    summary: 'The captures of a hold',
    parameters: { holdRequestId: ID.hold, operation: 'CAPTURE' },
    answer: { items: [lastCaptured, captured] },
  },
  {
    route: 'watchOperations',
    name: 'resumed',
    summary: 'What was missed since an event, then what happens',
    parameters: { 'Last-Event-ID': 'bzI6MDo' },
    answer: streamOf(captured),
  },
  {
    route: 'getOperation',
    name: 'cancelled',
    summary: 'A hold whose checkout was cancelled',
    parameters: { requestId: ID.checkout },
    answer: {
      requestId: ID.checkout,
      operation: 'HOLD',
      status: 'KO',
      statusInfo: 'failed',
      merchantId: MERCHANT_ID,
      amount: 9900,
      ...ORDER,
      processorCode: 'checkout_cancelled',
      processorMessage: 'The merchant cancelled the checkout.',
      finalStateDate: '2026-11-21T12:20:00.000Z',
    },
  },
  {
    route: 'relayNotification',
    name: 'captured',
    summary: 'A capture of another system, signed with the secret whsec_example',
    parameters: {
      kind: 'payment',
      statusInfo: 'captured',
      'X-Service-Signature': 'kGGZ+41BJ4y+YVw6GagneMowgj8AonPwrk/eKHjMAis=',
    },
    body: { merchantId: MERCHANT_ID, requestId: 'order-7', status: 'OK', amount: 1050, currency: 'EUR' },
    answer: { requestId: 'order-7' },
  },
  {
    route: 'relayNotification',
    name: 'conflict',
    summary: 'Another amount under the same requestId, just as genuine',
    parameters: {
      kind: 'payment',
      statusInfo: 'captured',
      'X-Service-Signature': 'eHr+4YSpIuioGDTMXsdP3+mp9hud7+34GOd29dNcDEA=',
    },
    body: { merchantId: MERCHANT_ID, requestId: 'order-7', status: 'OK', amount: 1051, currency: 'EUR' },
    status: 202,
    answer: { requestId: 'order-7' },
  },
  { route: 'getHealth', name: 'ok', summary: 'It runs', answer: { status: 'ok' } },
  { route: 'getReadiness', name: 'ready', summary: 'It can serve', answer: { status: 'ready' } },
];
