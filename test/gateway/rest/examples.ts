import { timestampFromDate } from '@bufbuild/protobuf/wkt';

export const HOLD_ID = '0199a1b2-0000-7000-8000-000000000001';
export const CAPTURE_ID = '0199a1b2-0000-7000-8000-000000000002';
export const OCT_ID = '0199a1b2-0000-7000-8000-000000000003';
export const RELEASE_ID = '0199a1b2-0000-7000-8000-000000000004';
export const PREAUTHORIZATION_ID = `pre_${'Z'.repeat(32)}`;
export const NOW = timestampFromDate(new Date('2026-11-21T12:00:00.123Z'));
export const NOW_TEXT = '2026-11-21T12:00:00.123Z';

/** A placed hold as core returns it. */
export const HOLD = {
  requestId: HOLD_ID,
  preauthorizationId: PREAUTHORIZATION_ID,
  status: 1,
  phase: 4,
  amount: 10_000n,
  currency: 'EUR',
  amountCaptured: 4_000n,
  amountRemaining: 6_000n,
  merchantId: 'acme',
  terminalId: 'T1',
  userId: 'u-1',
  merchantReference: 'order-1',
  description: 'a bicycle',
  customerPresent: true,
  metadata: { colour: 'blue' },
  createdAt: NOW,
  placedAt: NOW,
  expiresAt: NOW,
  paymentMethod: { type: 'card', brand: 'visa', last4: '1111', expiryMonth: 12, expiryYear: 2030, funding: 'debit' },
  generatedTokenId: 'tok_new',
  processorReference: 'ref-1',
};

/** The same hold as the gateway returns it. */
export const HOLD_JSON = {
  requestId: HOLD_ID,
  preauthorizationId: PREAUTHORIZATION_ID,
  status: 'IN_PROGRESS',
  phase: 'AUTHORIZED',
  amount: 10_000,
  currency: 'EUR',
  amountCaptured: 4_000,
  amountInFlight: 0,
  amountRemaining: 6_000,
  amountReleased: 0,
  amountReversed: 0,
  amountRefunded: 0,
  merchantId: 'acme',
  terminalId: 'T1',
  userId: 'u-1',
  merchantReference: 'order-1',
  description: 'a bicycle',
  customerPresent: true,
  metadata: { colour: 'blue' },
  createdAt: NOW_TEXT,
  placedAt: NOW_TEXT,
  expiresAt: NOW_TEXT,
  paymentMethodData: {
    type: 'card',
    brand: 'visa',
    last4: '1111',
    expiryMonth: 12,
    expiryYear: 2030,
    funding: 'debit',
  },
  tokenData: { tokenId: 'tok_new' },
  reference: 'ref-1',
};

/** A successful capture as core returns it. */
export const CAPTURE = {
  requestId: CAPTURE_ID,
  holdRequestId: HOLD_ID,
  state: 4,
  amount: 4_000n,
  currency: 'EUR',
  captureDate: NOW,
  bankReference: 'bank-1',
  amountCaptured: 4_000n,
  amountRemaining: 6_000n,
  amountReleased: 0n,
  preauthorizationStatus: 2,
  processorReference: 'ref-2',
  createdAt: NOW,
};

/** The same capture as the gateway returns it. */
export const CAPTURE_JSON = {
  requestId: CAPTURE_ID,
  holdRequestId: HOLD_ID,
  status: 'OK',
  amount: 4_000,
  currency: 'EUR',
  finalCapture: false,
  captureDate: NOW_TEXT,
  bankReference: 'bank-1',
  amountCaptured: 4_000,
  amountRemaining: 6_000,
  amountReleased: 0,
  preauthorizationStatus: 'PARTIALLY_CAPTURED',
  reference: 'ref-2',
  createdAt: NOW_TEXT,
  reversed: false,
  amountReversed: 0,
  amountRefunded: 0,
};

/** Valid bodies. */
export const CREATE_HOLD = {
  tokenId: 'tok_sandbox_ok',
  amount: 10_000,
  currency: 'EUR',
  terminalId: 'T1',
  userId: 'u-1',
};
export const CREATE_OCT = { tokenId: 'tok_sandbox_ok', amount: 500, currency: 'EUR', terminalId: 'T1', userId: 'u-1' };
export const CAPTURE_HOLD = { preauthorizationId: PREAUTHORIZATION_ID, amountToCapture: 4_000 };
