import { type Draft, ID, MERCHANT_ID, ORDER, streamOf } from '../example.ts';
import { captured, lastCaptured, oct } from '../oct-operation-relay.ts';

/** What a search shows of a result. */
const { requestId, operation, status, merchantId, amount, currency, holdRequestId } = captured;
const found = { requestId, operation, status, merchantId, amount, currency, holdRequestId };

const frozenHold = {
  requestId: ID.silentHold,
  operation: 'HOLD',
  status: 'OK',
  statusInfo: 'authorized',
  merchantId: MERCHANT_ID,
  amount: 5000,
  ...ORDER,
  merchantReference: 'order-1003',
  reference: 'sbx_tQ7mVbX2nK9sLw4c',
  finalStateDate: '2026-11-21T14:00:00.120Z',
};

const session = {
  operator: 'alice',
  csrfToken: 'b0gRyZ0cYkq3oVn3yJ2mJXHkq8b3wq1oJ7uTn2m5x4E',
  expiresAt: '2026-11-21T20:00:00.000Z',
};

/** A console session, what goes on across merchants, and a hold that an operator unfreezes. */
export const OVERVIEW_EXAMPLES: readonly Draft[] = [
  {
    route: 'signIn',
    name: 'signIn',
    summary: 'Alice signs in',
    body: { token: 'the-operator-token', operator: 'alice' },
    answer: session,
  },
  { route: 'getSession', name: 'session', summary: 'By the cookie', answer: session },
  { route: 'signOut', name: 'signOut', summary: 'Alice signs out', status: 204 },
  {
    route: 'search',
    name: 'byId',
    summary: 'A capture by its requestId',
    body: { text: ID.capture },
    answer: {
      items: [{ ...found, createdAt: '2026-11-21T12:05:00.010Z', matchedBy: 'ID' }],
    },
  },
  {
    route: 'getOverview',
    name: 'counts',
    summary: 'A hold is frozen, and a notification waits in quarantine',
    answer: {
      expiringHoldCount: 3,
      unknownCount: 0,
      needsReviewCount: 0,
      frozenHoldCount: 1,
      quarantinedCount: 1,
      deadDeliveryCount: 0,
      dueDeliveryCount: 0,
      pausedEndpointCount: 0,
      at: '2026-11-21T15:30:00.000Z',
      processors: [{ processor: 'sandbox', configured: true, available: true, unknownCount: 0, needsReviewCount: 0 }],
    },
  },
  {
    route: 'listMinutes',
    name: 'lastTwo',
    summary: 'The minute before, and the present one',
    parameters: { minutes: 2 },
    answer: {
      items: [
        ['2026-11-21T15:29:00.000Z', 41],
        ['2026-11-21T15:30:00.000Z', 12],
      ].map(([start, okCount]) => ({
        start,
        okCount,
        koCount: 2,
        deliveryCount: 44,
        deliveredCount: 44,
        verifiedCount: 43,
        refusedCount: 1,
      })),
    },
  },
  {
    route: 'listOperatorOperations',
    name: 'ofMerchant',
    summary: "The captures of a merchant's hold",
    parameters: { merchantId: MERCHANT_ID, holdRequestId: ID.hold, operation: 'CAPTURE' },
    answer: { items: [lastCaptured, captured] },
  },
  {
    route: 'watchOperatorOperations',
    name: 'resumed',
    summary: 'Of one merchant, since an event',
    parameters: { merchantId: MERCHANT_ID, 'Last-Event-ID': 'bzI6MDo' },
    answer: streamOf(captured),
  },
  {
    route: 'getOperatorOperation',
    name: 'capture',
    summary: 'A capture',
    parameters: { requestId: ID.capture },
    answer: captured,
  },
  {
    route: 'getOperatorOct',
    name: 'paid',
    summary: 'A payout',
    parameters: { requestId: ID.oct },
    answer: oct,
  },
  {
    route: 'listReviews',
    name: 'frozen',
    summary: 'The processor took back that it had approved a hold',
    parameters: { merchantId: MERCHANT_ID, reason: 'FROZEN' },
    answer: {
      items: [
        {
          requestId: ID.silentHold,
          reason: 'FROZEN',
          operation: 'HOLD',
          merchantId: MERCHANT_ID,
          amount: 5000,
          currency: 'EUR',
          createdAt: '2026-11-21T14:00:00.000Z',
          ageSeconds: 5400,
          inquiryCount: 0,
          lateVoid: false,
          processor: 'sandbox',
        },
      ],
    },
  },
  {
    route: 'resolveReview',
    name: 'unfreeze',
    summary: 'The hold stands after all',
    parameters: { requestId: ID.silentHold },
    body: { reason: 'Ticket 502: the processor confirms the hold by phone', unfreezeHold: true },
    answer: { requestId: ID.silentHold, operation: frozenHold, frozen: false },
  },
  {
    route: 'listAudit',
    name: 'ofHold',
    summary: 'Who captured and released a hold',
    parameters: { target: ID.supportHold, action: 'preauthorization.capture' },
    answer: {
      items: [
        {
          auditEntryId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f2a01',
          at: '2026-11-21T15:05:00.000Z',
          actor: 'operator/alice',
          action: 'preauthorization.capture',
          target: ID.supportHold,
          detail: { amountToCapture: 6000, result: 'OK', requestId: ID.supportCapture },
        },
      ],
    },
  },
];
