import type { HEALTH_ROUTES } from '../../health.ts';
import type { OPERATOR_ROUTES } from '../../operator/operator.ts';
import type { RELAY_ROUTES } from '../../relay/relay-notification.ts';
import type { REST_ROUTES } from '../../rest/rest.ts';

type Name<Routes> = Extract<keyof Routes, string>;

/**
 * One request and its answer. A test replays the examples in their order: an identifier from one answer is sent in later requests.
 */
export interface Example {
  readonly route:
    | Name<typeof REST_ROUTES>
    | Name<typeof RELAY_ROUTES>
    | Name<typeof OPERATOR_ROUTES>
    | Name<typeof HEALTH_ROUTES>;
  /** Unique within its route. */
  readonly name: string;
  readonly summary: string;
  /** Of the path, the query and the headers, by name. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  readonly status: number;
  /** Text where the answer is no JSON; absent where it has no body. */
  readonly answer?: object | string;
}

/** An example as it is written; its status is 200 unless it says so. */
export type Draft = Omit<Example, 'status'> & Partial<Pick<Example, 'status'>>;

export const MERCHANT_ID = 'acme';
/** One that operators create. */
export const NEW_MERCHANT_ID = 'globex';
const REQUEST = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a';
/** The requestIds of the examples' operations. */
export const ID = {
  hold: `${REQUEST}01`,
  capture: `${REQUEST}02`,
  finalCapture: `${REQUEST}03`,
  checkout: `${REQUEST}04`,
  cancellation: `${REQUEST}05`,
  oct: `${REQUEST}06`,
  otherHold: `${REQUEST}07`,
  release: `${REQUEST}08`,
  unknownHold: `${REQUEST}09`,
  unknownOct: `${REQUEST}10`,
  silentHold: `${REQUEST}11`,
  unknownCapture: `${REQUEST}12`,
  unknownRelease: `${REQUEST}13`,
  supportHold: `${REQUEST}14`,
  supportCapture: `${REQUEST}15`,
  supportRelease: `${REQUEST}16`,
  supportUnknownCapture: `${REQUEST}17`,
  supportUnknownRelease: `${REQUEST}18`,
  test: `${REQUEST}19`,
};

/** Where a merchant receives notifications. */
export const WEBHOOK_URL = 'https://merchant.example/hooks';

/** Fields that all orders share. */
export const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'customer-7' };

/** A sandbox token's card. */
export const paymentMethodData = { type: 'card', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034 };

/** The beginning of an event stream: when to connect again, then one result with the token to resume from. */
export function streamOf(operation: object): string {
  return `retry: 1000\n\nid: bzI6MTA0Mjo2YzdkOGU5ZjBhMWI\nevent: operation\ndata: ${JSON.stringify(operation)}\n\n`;
}

/** A write whose answer from the processor was lost. */
export function answerLost(
  { route, ...sent }: Pick<Draft, 'route' | 'parameters' | 'body'>,
  ids: { readonly requestId: string; readonly holdRequestId?: string },
): Draft {
  const summary = "The processor's answer was lost";
  return { route, name: 'unknown', summary, ...sent, status: 202, answer: { ...ids, status: 'IN_PROGRESS' } };
}

/** Of a hold on which nothing happened. */
export const UNTOUCHED = { amountCaptured: 0, amountInFlight: 0, amountReleased: 0, amountReversed: 0 };

interface Placed {
  readonly requestId: string;
  readonly amount: number;
  /** At which it was placed, in two digits. */
  readonly hour: string;
  /** The processor's. */
  readonly reference: string;
  readonly merchantReference?: string;
}

/** A hold that was placed, without its handle. */
export function placedHold({ requestId, amount, hour, ...references }: Placed) {
  return {
    requestId,
    status: 'IN_PROGRESS',
    amount,
    ...UNTOUCHED,
    amountRemaining: amount,
    merchantId: MERCHANT_ID,
    ...ORDER,
    createdAt: `2026-11-21T${hour}:00:00.000Z`,
    placedAt: `2026-11-21T${hour}:00:00.120Z`,
    expiresAt: `2026-11-28T${hour}:00:00.120Z`,
    paymentMethodData,
    ...references,
  };
}

/** A capture with its result. */
export interface Capture {
  readonly requestId: string;
  readonly holdRequestId: string;
  readonly amount: number;
  readonly reference: string;
  readonly bankReference: string;
  readonly captureDate: string;
}

/** A capture's result, as it is listed and streamed. */
export function operationOf({ captureDate, ...capture }: Capture, merchantReference: string) {
  const { requestId, holdRequestId, amount, reference, bankReference } = capture;
  return {
    requestId,
    operation: 'CAPTURE',
    status: 'OK',
    statusInfo: 'captured',
    merchantId: MERCHANT_ID,
    amount,
    holdRequestId,
    ...ORDER,
    merchantReference,
    reference,
    bankReference,
    finalStateDate: captureDate,
  };
}

/** The delivery of a capture's notification: in a list, by itself, and sent again. */
export function deliveryOf(operation: ReturnType<typeof operationOf>, deliveryId: string, replayedAt: string) {
  const { requestId, amount, finalStateDate: createdAt, statusInfo } = operation;
  const created = {
    deliveryId,
    merchantId: MERCHANT_ID,
    endpointKind: 'WEBHOOK',
    requestId,
    kind: 'PAYMENT',
    statusInfo,
    attemptCount: 1,
    createdAt,
  };
  const delivered = { ...created, state: 'DELIVERED', deliveredAt: createdAt.replace('.080Z', '.120Z') };
  const startedAt = createdAt.replace('.080Z', '.090Z');
  const url = `${WEBHOOK_URL}/webhook/processor/payment/${statusInfo}`;
  const attempts = [
    { number: 1, startedAt, latencyMs: 24, httpStatus: 200, url, responseHead: JSON.stringify({ requestId }) },
  ];
  const content = (own: string, standard: string) => ({
    url,
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'user-agent', value: 'Holdfast/1' },
      { name: 'x-service-signature', value: own },
      { name: 'webhook-id', value: deliveryId },
      { name: 'webhook-timestamp', value: '1795262700' },
      { name: 'webhook-signature', value: `v1,${standard}` },
    ],
    body: JSON.stringify({ merchantId: MERCHANT_ID, requestId, status: 'OK', amount, currency: 'EUR' }),
  });
  const whole = { ...delivered, attempts, operation };
  return {
    created,
    delivered,
    /** As the merchant sees it, and as operators do. */
    whole: { ...whole, content: content(`q83vEjRWeJCr${'A'.repeat(31)}=`, `kD93mVqXe${'A'.repeat(34)}=`) },
    shown: { ...whole, content: content('q83vEjRWeJCr…', 'kD93mVqXe…') },
    replayed: { ...created, state: 'PENDING', dueAt: replayedAt, attempts },
  };
}
