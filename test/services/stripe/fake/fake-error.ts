import type Stripe from 'stripe';

/** An error as Stripe answers it. */
export class FakeError extends Error {
  readonly status: number;
  readonly body: Partial<Stripe.StripeRawError>;
  /** Stripe keeps an answer under the idempotency key once the request has begun to act, not when its fields are wrong. */
  readonly isKept: boolean;

  constructor(status: number, body: Partial<Stripe.StripeRawError>, isKept = false) {
    super(body.message ?? '');
    this.status = status;
    this.body = body;
    this.isKept = isKept;
  }
}

/** A field is missing or wrong. */
export function invalid(message: string, param?: string, code?: string): FakeError {
  return new FakeError(400, { type: 'invalid_request_error', message, ...(param && { param }), ...(code && { code }) });
}

/** There is no such object. */
export function missing(what: string, id: string, param = 'id'): FakeError {
  const body = {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${what}: '${id}'`,
    param,
  } as const;
  return new FakeError(404, body);
}

/** The object is not in a state in which this can be done. */
export function wrongState(message: string, code = 'payment_intent_unexpected_state'): FakeError {
  return new FakeError(400, { type: 'invalid_request_error', code, message }, true);
}

/** The card's issuer said no. */
export function cardError(code: string, declineCode?: string): FakeError {
  const message = 'Your card was declined.';
  const body = { type: 'card_error', code, message, ...(declineCode && { decline_code: declineCode }) } as const;
  return new FakeError(402, body, true);
}
