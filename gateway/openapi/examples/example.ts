import type { REST_ROUTES } from '../../rest/rest.ts';

/**
 * One exchange. The examples tell a story in their order, so that a test can replay them: an identifier that one answer
 * gave is the one that later requests send.
 */
export interface Example {
  readonly route: keyof typeof REST_ROUTES | 'relayNotification' | 'getHealth' | 'getReadiness';
  /** Of its own within its route. */
  readonly name: string;
  readonly summary: string;
  /** Of the path, the query and the headers, by name. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status: number;
  readonly answer: object;
}

export const MERCHANT_ID = 'acme';
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

/** Where and for whom. */
export const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'customer-7' };

/** A sandbox token's card. */
export const paymentMethodData = { type: 'card', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034 };
