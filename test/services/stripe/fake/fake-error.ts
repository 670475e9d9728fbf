import type Stripe from 'stripe';

/** An error in Stripe's format. */
export class FakeError extends Error {
  readonly status: number;
  readonly body: Partial<Stripe.StripeRawError>;
  /**
   * Stripe stores an answer under the idempotency key once the request has begun to act, not when its fields are
   * invalid.
   */
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

/** The object does not exist. */
export function missing(what: string, id: string, param = 'id'): FakeError {
  const body = {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${what}: '${id}'`,
    param,
  } as const;
  return new FakeError(404, body);
}

/** The object's state does not allow this. */
export function wrongState(message: string, code = 'payment_intent_unexpected_state'): FakeError {
  return new FakeError(400, { type: 'invalid_request_error', code, message }, true);
}

/** The card's issuer declined. */
export function cardError(code: string, declineCode?: string): FakeError {
  const message = 'Your card was declined.';
  const body = { type: 'card_error', code, message, ...(declineCode && { decline_code: declineCode }) } as const;
  return new FakeError(402, body, true);
}
