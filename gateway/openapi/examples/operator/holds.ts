import { answerLost, type Draft, ID, MERCHANT_ID, ORDER, operationOf, placedHold } from '../example.ts';
import { capture } from '../preauthorization.ts';

const merchantReference = 'order-1002';
const placed = placedHold({
  requestId: ID.supportHold,
  amount: 8000,
  hour: '15',
  reference: 'sbx_Zr5hQy8nTd2vKb7w',
  merchantReference,
});
const closed = {
  ...placed,
  status: 'CAPTURED',
  amountCaptured: 6000,
  amountRemaining: 0,
  amountReleased: 2000,
  closedAt: '2026-11-21T15:10:00.060Z',
  releaseReason: 'RELEASED',
  phase: 'AUTHORIZED',
  frozen: false,
};
const supportCapture = {
  ...capture,
  requestId: ID.supportCapture,
  holdRequestId: ID.supportHold,
  amount: 6000,
  captureDate: '2026-11-21T15:05:00.080Z',
  amountCaptured: 6000,
  amountRemaining: 2000,
  bankReference: 'BNK5D20B7E9A41C6F38',
  reference: 'sbx_Wm3cXf6pLj9sRg0u',
  createdAt: '2026-11-21T15:05:00.000Z',
};
const common = { status: 'OK', merchantId: MERCHANT_ID, ...ORDER, merchantReference };
const operations = [
  {
    ...common,
    requestId: ID.supportHold,
    operation: 'HOLD',
    statusInfo: 'authorized',
    amount: 8000,
    reference: placed.reference,
    finalStateDate: placed.placedAt,
  },
  operationOf(supportCapture, merchantReference),
  {
    ...common,
    requestId: ID.supportRelease,
    operation: 'RELEASE',
    statusInfo: 'released',
    amount: 2000,
    holdRequestId: ID.supportHold,
    reference: 'sbx_Nk1eBv4tHa7yDi2o',
    finalStateDate: closed.closedAt,
  },
];
/** Each notification goes to the webhook URL, which is the relay here, and from there to the internal one. */
const deliveries = operations.flatMap(({ requestId, statusInfo, finalStateDate }, index) =>
  ['WEBHOOK', 'INTERNAL'].map((endpointKind, hop) => ({
    deliveryId: `0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f1a${index}${hop}`,
    merchantId: MERCHANT_ID,
    endpointKind,
    requestId,
    kind: 'PAYMENT',
    statusInfo,
    state: 'DELIVERED',
    attemptCount: 1,
    createdAt: finalStateDate,
    deliveredAt: finalStateDate.replace(/\.\d{3}Z$/, '.950Z'),
  })),
);

/** A hold that its merchant asked an operator to look after, and answers that were lost. */
export const HOLD_EXAMPLES: readonly Draft[] = [
  {
    route: 'createPreauthorization',
    name: 'forSupport',
    summary: 'A hold that an operator will capture',
    body: { tokenId: 'tok_sandbox_ok', amount: 8000, ...ORDER, merchantReference },
    status: 201,
    answer: { ...placed, preauthorizationId: 'pre_Gd4kPz9wQe1rTy6uIo3aSf8hJl2xCv5b' },
  },
  {
    route: 'captureHold',
    name: 'partial',
    summary: 'What the merchant could not capture itself',
    parameters: { requestId: ID.supportHold, 'Idempotency-Key': 'ticket-501-capture' },
    body: { amountToCapture: 6000 },
    answer: supportCapture,
  },
  answerLost(
    { route: 'captureHold', parameters: { requestId: ID.silentHold }, body: { amountToCapture: 500 } },
    { requestId: ID.supportUnknownCapture, holdRequestId: ID.silentHold },
  ),
  {
    route: 'releaseHold',
    name: 'rest',
    summary: 'What is left',
    parameters: { requestId: ID.supportHold },
    body: {},
    answer: { ...closed, releaseRequestId: ID.supportRelease },
  },
  answerLost(
    { route: 'releaseHold', parameters: { requestId: ID.silentHold }, body: {} },
    { requestId: ID.supportUnknownRelease, holdRequestId: ID.silentHold },
  ),
  {
    route: 'listHolds',
    name: 'byReference',
    summary: "By the merchant's own reference",
    parameters: { merchantId: MERCHANT_ID, merchantReference },
    answer: { items: [closed] },
  },
  {
    route: 'getHold',
    name: 'story',
    summary: 'Its whole story',
    parameters: { requestId: ID.supportHold },
    answer: { ...closed, captures: [supportCapture], operations, deliveries },
  },
];
