import { readFileSync } from 'node:fs';
import type { HEALTH_ROUTES } from '../../health.ts';
import type { OPERATOR_ROUTES } from '../../operator/operator.ts';
import type { RELAY_ROUTES } from '../../relay/relay-notification.ts';
import type { REST_ROUTES } from '../../rest/rest.ts';

/**
 * One request, as it is written. The tests send the requests in their order: an identifier from one answer is sent in
 * later requests.
 */
export interface Request {
  readonly route: keyof (typeof REST_ROUTES & typeof RELAY_ROUTES & typeof OPERATOR_ROUTES & typeof HEALTH_ROUTES);
  /** Unique within its route. */
  readonly name: string;
  readonly summary: string;
  /** Of the path, the query and the headers, by name. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  /** Of the answer; unset: the first success of the route. */
  readonly status?: number;
}

/** Writes a request down; `sent` is what it carries, and its status. */
export function request(
  route: Request['route'],
  name: string,
  summary: string,
  sent: Pick<Request, 'parameters' | 'body' | 'status'> = {},
): Request {
  return { route, name, summary, ...sent };
}

/** A write whose outcome is not known yet. */
export function lost(route: Request['route'], sent: Pick<Request, 'parameters' | 'body'>): Request {
  return request(route, 'unknown', "The processor's answer was lost", { ...sent, status: 202 });
}

export interface Example extends Request {
  readonly status: number;
  /** Text where the answer is no JSON; absent where it has no body. */
  readonly answer?: object | string | undefined;
}

/** The file of the recorded answers, by keyOf(). */
export const ANSWERS_FILE = new URL('./answers.json', import.meta.url);
const ANSWERS: Readonly<Record<string, object | string>> = JSON.parse(readFileSync(ANSWERS_FILE, 'utf8'));

/** Names an example in the recorded answers. */
export function keyOf({ route, name }: Pick<Request, 'route' | 'name'>): string {
  return `${route} ${name}`;
}

export function answerOf(request: Pick<Request, 'route' | 'name'>): object | string | undefined {
  return ANSWERS[keyOf(request)];
}

export const MERCHANT_ID = 'acme';
/** The merchant that operators create. */
export const NEW_MERCHANT_ID = 'globex';
const PREFIX = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f';
/** The identifiers in requests: those that the answers of earlier ones have in `answers.json`. */
export const ID = {
  holdHandle: 'pre_3q2-7wQx0nV5bYk8Jm1ZcR4tLh6sDfGa',
  otherHandle: 'pre_Vb7Xk2mQ9sT4wZ1cR6yF3nH8jL5pD0aG',
  refundsHandle: 'pre_Kd4Nf7wJ2eX9qS5vT8bM1yC6hR3zL0gA',
  silentHandle: 'pre_Yh3Qn8vL0xC5kS2uE7wM4rB9tJ6fZ1aP',
  hold: `${PREFIX}0a01`,
  keptHold: `${PREFIX}0a26`,
  capture: `${PREFIX}0a02`,
  finalCapture: `${PREFIX}0a03`,
  refund: `${PREFIX}0a20`,
  wholeCapture: `${PREFIX}0a23`,
  checkout: `${PREFIX}0a04`,
  oct: `${PREFIX}0a06`,
  silentHold: `${PREFIX}0a11`,
  supportHold: `${PREFIX}0a14`,
  supportCapture: `${PREFIX}0a15`,
  test: `${PREFIX}0a19`,
  apiKey: `${PREFIX}3a01`,
  secret: `${PREFIX}3b01`,
  delivery: `${PREFIX}4a01`,
  quarantined: `${PREFIX}4b01`,
  mistaken: `${PREFIX}4b02`,
  ownDelivery: `${PREFIX}5a01`,
  ownSecret: `${PREFIX}5b02`,
  endpoint: `webhook-${PREFIX}5c01`,
  endpointSecret: `${PREFIX}5b03`,
  internalEndpoint: `internal-${PREFIX}5c02`,
  internalSecret: `${PREFIX}5b04`,
  sender: `${PREFIX}5d01`,
  senderOf: `${PREFIX}5d03`,
};

export const WEBHOOK_URL = 'https://merchant.example/hooks';

/** A month after the examples; the tests send a time that far ahead of them. */
export const KEPT_UNTIL = '2026-12-21T12:00:00.000Z';

/** Fields that all orders share. */
export const ORDER = { currency: 'EUR', terminalId: 'till-1', userId: 'customer-7' };
