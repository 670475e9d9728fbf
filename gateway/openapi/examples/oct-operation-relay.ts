import {
  CAPTURE_ID,
  CHECKOUT_ID,
  type Example,
  FINAL_CAPTURE_ID,
  HOLD_ID,
  MERCHANT_ID,
  OCT_ID,
  ORDER,
  paymentMethodData,
  streamOf,
  UNKNOWN_OCT_ID,
} from './example.ts';

/** A payout. */
export const oct = {
  requestId: OCT_ID,
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

/** The result of a hold's first capture. */
export const capture = {
  requestId: CAPTURE_ID,
  operation: 'CAPTURE',
  status: 'OK',
  statusInfo: 'captured',
  merchantId: MERCHANT_ID,
  amount: 1500,
  holdRequestId: HOLD_ID,
  ...ORDER,
  merchantReference: 'order-1001',
  reference: 'sbx_KRP4JDTFh5tdQDD-',
  bankReference: 'BNKEF955DF08FBFDD23',
  finalStateDate: '2026-11-21T12:05:00.080Z',
};

/** The result of its last capture. */
export const finalCapture = {
  ...capture,
  requestId: FINAL_CAPTURE_ID,
  amount: 2000,
  reference: 'sbx_ry8MI0TqUsCLrdtA',
  bankReference: 'BNKF37AC4EFB0437DE4',
  finalStateDate: '2026-11-21T12:10:00.080Z',
};

/** After the holds: a payout, the results of it all, and a notification of another sender. */
export const OTHER_EXAMPLES: readonly Example[] = [
  {
    route: 'createOct',
    name: 'payout',
    summary: 'A payment to a card',
    parameters: { 'Idempotency-Key': 'payout-7' },
    body: { tokenId: 'tok_sandbox_ok', amount: 2500, ...ORDER, merchantReference: 'payout-7' },
    status: 201,
    answer: oct,
  },
  {
    route: 'createOct',
    name: 'unknown',
    summary: "The processor's answer was lost",
    body: { tokenId: 'tok_sandbox_timeout_applied', amount: 2500, ...ORDER },
    status: 202,
    answer: { requestId: UNKNOWN_OCT_ID, status: 'IN_PROGRESS' },
  },
  { route: 'getOct', name: 'paid', summary: 'Paid', parameters: { requestId: OCT_ID }, status: 200, answer: oct },
  {
    route: 'listOperations',
    name: 'captures',
    summary: 'The captures of a hold',
    parameters: { holdRequestId: HOLD_ID, operation: 'CAPTURE' },
    status: 200,
    answer: { items: [finalCapture, capture] },
  },
  {
    route: 'watchOperations',
    name: 'resumed',
    summary: 'What was missed since an event, then what happens',
    parameters: { 'Last-Event-ID': 'bzI6MDo' },
    status: 200,
    answer: streamOf(capture),
  },
  {
    route: 'getOperation',
    name: 'cancelled',
    summary: 'A hold whose checkout was cancelled',
    parameters: { requestId: CHECKOUT_ID },
    status: 200,
    answer: {
      requestId: CHECKOUT_ID,
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
    status: 200,
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
  { route: 'getHealth', name: 'ok', summary: 'It runs', status: 200, answer: { status: 'ok' } },
  { route: 'getReadiness', name: 'ready', summary: 'It can serve', status: 200, answer: { status: 'ready' } },
];
