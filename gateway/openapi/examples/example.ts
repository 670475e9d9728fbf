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
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status: number;
  /** Text where the answer is no JSON; absent where it has no body. */
  readonly answer?: object | string;
}

export const MERCHANT_ID = 'acme';
/** One that operators create. */
export const NEW_MERCHANT_ID = 'globex';
const REQUEST = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a';
export const HOLD_ID = `${REQUEST}01`;
export const CAPTURE_ID = `${REQUEST}02`;
export const FINAL_CAPTURE_ID = `${REQUEST}03`;
export const CHECKOUT_ID = `${REQUEST}04`;
export const CANCELLATION_ID = `${REQUEST}05`;
export const OCT_ID = `${REQUEST}06`;
export const OTHER_HOLD_ID = `${REQUEST}07`;
export const RELEASE_ID = `${REQUEST}08`;
export const UNKNOWN_ID = `${REQUEST}09`;
export const UNKNOWN_OCT_ID = `${REQUEST}10`;
export const SILENT_HOLD_ID = `${REQUEST}11`;
export const UNKNOWN_CAPTURE_ID = `${REQUEST}12`;
export const UNKNOWN_RELEASE_ID = `${REQUEST}13`;
export const SUPPORT_HOLD_ID = `${REQUEST}14`;
export const SUPPORT_CAPTURE_ID = `${REQUEST}15`;
export const SUPPORT_RELEASE_ID = `${REQUEST}16`;
export const SUPPORT_UNKNOWN_CAPTURE_ID = `${REQUEST}17`;
export const SUPPORT_UNKNOWN_RELEASE_ID = `${REQUEST}18`;

export const TEST_ID = `${REQUEST}19`;
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
