import { answerLost, type Draft, ID, MERCHANT_ID, ORDER, placedHold, UNTOUCHED } from './example.ts';

const preauthorizationId = 'pre_3q2-7wQx0nV5bYk8Jm1ZcR4tLh6sDfGa';
const otherPreauthorizationId = 'pre_Vb7Xk2mQ9sT4wZ1cR6yF3nH8jL5pD0aG';
const silentPreauthorizationId = 'pre_Yh3Qn8vL0xC5kS2uE7wM4rB9tJ6fZ1aP';

const purchase = { ...ORDER, merchantReference: 'order-1001', metadata: { basket: 'b-17' } };

const hold = {
  ...placedHold({ requestId: ID.hold, amount: 4200, hour: '12', reference: 'sbx_rKy9ISXvC02NT0PF' }),
  ...purchase,
  preauthorizationId,
};

/** The hold's first capture. */
export const capture = {
  requestId: ID.capture,
  holdRequestId: ID.hold,
  status: 'OK',
  amount: 1500,
  currency: 'EUR',
  finalCapture: false,
  captureDate: '2026-11-21T12:05:00.080Z',
  amountCaptured: 1500,
  amountRemaining: 2700,
  amountReleased: 0,
  bankReference: 'BNKEF955DF08FBFDD23',
  preauthorizationStatus: 'PARTIALLY_CAPTURED',
  reference: 'sbx_KRP4JDTFh5tdQDD-',
  reversed: false,
  amountReversed: 0,
  createdAt: '2026-11-21T12:05:00.000Z',
};

/** Its last capture, which closes the hold. */
export const finalCapture = {
  ...capture,
  requestId: ID.finalCapture,
  amount: 2000,
  finalCapture: true,
  captureDate: '2026-11-21T12:10:00.080Z',
  amountCaptured: 2000,
  amountRemaining: 0,
  amountReleased: 700,
  bankReference: 'BNKF37AC4EFB0437DE4',
  preauthorizationStatus: 'CAPTURED',
  reference: 'sbx_ry8MI0TqUsCLrdtA',
  createdAt: '2026-11-21T12:10:00.000Z',
};

const otherHold = placedHold({ requestId: ID.otherHold, amount: 3000, hour: '13', reference: 'sbx_iP5aP6GceYTHzRWn' });
const released = {
  ...otherHold,
  status: 'RELEASED',
  amountRemaining: 0,
  amountReleased: 3000,
  closedAt: '2026-11-21T13:10:00.060Z',
  releaseReason: 'RELEASED',
};

/** A hold whose captures get no answer. */
const silent = {
  ...placedHold({ requestId: ID.silentHold, amount: 5000, hour: '14', reference: 'sbx_tQ7mVbX2nK9sLw4c' }),
  ...purchase,
  preauthorizationId: silentPreauthorizationId,
  merchantReference: 'order-1003',
};

/** A hold captured in two parts, a checkout cancelled, a hold given back, and what happens when no answer comes. */
export const PREAUTHORIZATION_EXAMPLES: readonly Draft[] = [
  {
    route: 'createPreauthorization',
    name: 'withToken',
    summary: 'A hold on a known card',
    parameters: { 'Idempotency-Key': 'order-1001-hold' },
    body: { tokenId: 'tok_sandbox_ok', amount: 4200, ...purchase },
    status: 201,
    answer: hold,
  },
  {
    route: 'createPreauthorization',
    name: 'withCheckout',
    summary: 'The customer enters a card',
    body: { amount: 9900, ...ORDER, returnUrl: 'https://shop.example/done', saveCard: true },
    status: 201,
    answer: {
      requestId: ID.checkout,
      status: 'IN_PROGRESS',
      checkoutUrl: 'https://pay.example/checkout/L2SIxfpvbJiI2i5nDQ7AnV7zUjFov2BlTvrRi32j2MI',
      checkoutExpiresAt: '2026-11-21T12:30:00.000Z',
    },
  },
  answerLost(
    { route: 'createPreauthorization', body: { tokenId: 'tok_sandbox_timeout_applied', amount: 100, ...ORDER } },
    { requestId: ID.unknownHold },
  ),
  {
    route: 'createPreauthorization',
    name: 'silentCaptures',
    summary: 'A sandbox token whose captures are not answered',
    body: {
      tokenId: 'tok_sandbox_capture_timeout_applied',
      amount: 5000,
      ...purchase,
      merchantReference: 'order-1003',
    },
    status: 201,
    answer: silent,
  },
  {
    route: 'capturePreauthorization',
    name: 'partial',
    summary: 'A part of the hold',
    parameters: { 'Idempotency-Key': 'order-1001-parcel-1' },
    body: { preauthorizationId, amountToCapture: 1500 },
    answer: capture,
  },
  {
    route: 'capturePreauthorization',
    name: 'final',
    summary: 'The last part; the rest is given back',
    body: { preauthorizationId, amountToCapture: 2000, finalCapture: true },
    answer: finalCapture,
  },
  answerLost(
    { route: 'capturePreauthorization', body: { preauthorizationId: silentPreauthorizationId, amountToCapture: 1500 } },
    { requestId: ID.unknownCapture, holdRequestId: ID.silentHold },
  ),
  {
    route: 'getPreauthorization',
    name: 'captured',
    summary: 'A hold captured in two parts',
    parameters: { requestId: ID.hold },
    answer: {
      ...hold,
      status: 'CAPTURED',
      amountCaptured: 3500,
      amountRemaining: 0,
      amountReleased: 700,
      closedAt: finalCapture.captureDate,
      releaseReason: 'FINAL',
      captures: [capture, finalCapture],
    },
  },
  {
    route: 'releasePreauthorization',
    name: 'cancelCheckout',
    summary: 'The customer did not come',
    body: { requestId: ID.checkout },
    answer: {
      requestId: ID.checkout,
      status: 'FAILED',
      amount: 9900,
      ...UNTOUCHED,
      amountRemaining: 0,
      amountReleased: 9900,
      merchantId: MERCHANT_ID,
      ...ORDER,
      createdAt: '2026-11-21T12:00:00.000Z',
      closedAt: '2026-11-21T12:20:00.000Z',
      processorCode: 'checkout_cancelled',
      processorMessage: 'The merchant cancelled the checkout.',
      releaseRequestId: ID.cancellation,
    },
  },
  {
    route: 'createPreauthorization',
    name: 'withoutReference',
    summary: 'A hold that will be given back',
    body: { tokenId: 'tok_sandbox_ok', amount: 3000, ...ORDER },
    status: 201,
    answer: { ...otherHold, preauthorizationId: otherPreauthorizationId },
  },
  {
    route: 'releasePreauthorization',
    name: 'release',
    summary: 'The order was cancelled',
    body: { preauthorizationId: otherPreauthorizationId },
    answer: { ...released, preauthorizationId: otherPreauthorizationId, releaseRequestId: ID.release },
  },
  answerLost(
    { route: 'releasePreauthorization', body: { preauthorizationId: silentPreauthorizationId } },
    { requestId: ID.unknownRelease, holdRequestId: ID.silentHold },
  ),
  {
    route: 'listPreauthorizations',
    name: 'released',
    summary: "The newest of a customer's released holds",
    parameters: { userId: ORDER.userId, status: 'RELEASED', pageSize: 1 },
    answer: { items: [released] },
  },
];
