import {
  CANCELLATION_ID,
  CAPTURE_ID,
  CHECKOUT_ID,
  type Example,
  FINAL_CAPTURE_ID,
  HOLD_ID,
  MERCHANT_ID,
  ORDER,
  OTHER_HOLD_ID,
  paymentMethodData,
  RELEASE_ID,
  UNKNOWN_ID,
} from './example.ts';

const preauthorizationId = 'pre_3q2-7wQx0nV5bYk8Jm1ZcR4tLh6sDfGa';
const otherPreauthorizationId = 'pre_Vb7Xk2mQ9sT4wZ1cR6yF3nH8jL5pD0aG';

const purchase = { ...ORDER, merchantReference: 'order-1001', metadata: { basket: 'b-17' } };
const untouched = { amountCaptured: 0, amountInFlight: 0, amountReleased: 0, amountReversed: 0 };

const hold = {
  requestId: HOLD_ID,
  preauthorizationId,
  status: 'IN_PROGRESS',
  amount: 4200,
  ...untouched,
  amountRemaining: 4200,
  merchantId: MERCHANT_ID,
  ...purchase,
  createdAt: '2026-11-21T12:00:00.000Z',
  placedAt: '2026-11-21T12:00:00.120Z',
  expiresAt: '2026-11-28T12:00:00.120Z',
  paymentMethodData,
  reference: 'sbx_rKy9ISXvC02NT0PF',
};

const capture = {
  requestId: CAPTURE_ID,
  holdRequestId: HOLD_ID,
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
  createdAt: '2026-11-21T12:05:00.000Z',
};

const finalCapture = {
  ...capture,
  requestId: FINAL_CAPTURE_ID,
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

const released = {
  requestId: OTHER_HOLD_ID,
  status: 'RELEASED',
  amount: 3000,
  ...untouched,
  amountRemaining: 0,
  amountReleased: 3000,
  merchantId: MERCHANT_ID,
  ...ORDER,
  createdAt: '2026-11-21T13:00:00.000Z',
  placedAt: '2026-11-21T13:00:00.120Z',
  expiresAt: '2026-11-28T13:00:00.120Z',
  closedAt: '2026-11-21T13:10:00.060Z',
  releaseReason: 'RELEASED',
  paymentMethodData,
  reference: 'sbx_iP5aP6GceYTHzRWn',
};

/** A hold captured in two parts, a checkout cancelled, a hold given back, and one whose outcome is not known. */
export const PREAUTHORIZATION_EXAMPLES: readonly Example[] = [
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
      requestId: CHECKOUT_ID,
      status: 'IN_PROGRESS',
      checkoutUrl: 'https://pay.example/checkout/L2SIxfpvbJiI2i5nDQ7AnV7zUjFov2BlTvrRi32j2MI',
      checkoutExpiresAt: '2026-11-21T12:30:00.000Z',
    },
  },
  {
    route: 'createPreauthorization',
    name: 'unknown',
    summary: "The processor's answer was lost",
    body: { tokenId: 'tok_sandbox_timeout_applied', amount: 100, ...ORDER },
    status: 202,
    answer: { requestId: UNKNOWN_ID, status: 'IN_PROGRESS' },
  },
  {
    route: 'capturePreauthorization',
    name: 'partial',
    summary: 'A part of the hold',
    parameters: { 'Idempotency-Key': 'order-1001-parcel-1' },
    body: { preauthorizationId, amountToCapture: 1500 },
    status: 200,
    answer: capture,
  },
  {
    route: 'capturePreauthorization',
    name: 'final',
    summary: 'The last part; the rest is given back',
    body: { preauthorizationId, amountToCapture: 2000, finalCapture: true },
    status: 200,
    answer: finalCapture,
  },
  {
    route: 'getPreauthorization',
    name: 'captured',
    summary: 'A hold captured in two parts',
    parameters: { requestId: HOLD_ID },
    status: 200,
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
    body: { requestId: CHECKOUT_ID },
    status: 200,
    answer: {
      requestId: CHECKOUT_ID,
      status: 'FAILED',
      amount: 9900,
      ...untouched,
      amountRemaining: 0,
      amountReleased: 9900,
      merchantId: MERCHANT_ID,
      ...ORDER,
      createdAt: '2026-11-21T12:00:00.000Z',
      closedAt: '2026-11-21T12:20:00.000Z',
      processorCode: 'checkout_cancelled',
      processorMessage: 'The merchant cancelled the checkout.',
      releaseRequestId: CANCELLATION_ID,
    },
  },
  {
    route: 'createPreauthorization',
    name: 'withoutReference',
    summary: 'A hold that will be given back',
    body: { tokenId: 'tok_sandbox_ok', amount: 3000, ...ORDER },
    status: 201,
    answer: {
      ...without(released, 'closedAt', 'releaseReason'),
      preauthorizationId: otherPreauthorizationId,
      status: 'IN_PROGRESS',
      amountRemaining: 3000,
      amountReleased: 0,
    },
  },
  {
    route: 'releasePreauthorization',
    name: 'release',
    summary: 'The order was cancelled',
    body: { preauthorizationId: otherPreauthorizationId },
    status: 200,
    answer: { ...released, preauthorizationId: otherPreauthorizationId, releaseRequestId: RELEASE_ID },
  },
  {
    route: 'listPreauthorizations',
    name: 'released',
    summary: "The newest of a customer's released holds",
    parameters: { userId: ORDER.userId, status: 'RELEASED', pageSize: '1' },
    status: 200,
    answer: { items: [released] },
  },
];

function without<T extends object>(fields: T, ...names: (keyof T)[]): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name as keyof T)));
}
