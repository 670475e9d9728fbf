import Stripe from 'stripe';

/** Why a request to Stripe has no result. */
export type Failure =
  /** The card's issuer said no. Nothing was done. */
  | { readonly kind: 'declined'; readonly code: string; readonly message: string }
  /** Stripe rejected the request. Nothing was done. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly param: string }
  /** Too many requests, or the object or the key is in use by another one. This request did nothing. */
  | { readonly kind: 'busy' }
  /** The idempotency key was used with other parameters: something else was done under it. */
  | { readonly kind: 'key reused' }
  /** No answer, or an error of Stripe's own. `replayed`: this error is stored, the request has ended. */
  | { readonly kind: 'unknown'; readonly replayed: boolean };

/** Tells apart what can go wrong. Throws what is not an error of Stripe's client: that is our bug. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Stripe.errors.StripeError)) throw error;
  if (error instanceof Stripe.errors.StripeIdempotencyError) {
    return error.code === 'idempotency_key_in_use' ? { kind: 'busy' } : { kind: 'key reused' };
  }
  if (error instanceof Stripe.errors.StripeCardError) {
    return { kind: 'declined', code: error.decline_code || error.code || 'card_declined', message: error.message };
  }
  if (error instanceof Stripe.errors.StripeRateLimitError || error.statusCode === 409) return { kind: 'busy' };
  if (error instanceof Stripe.errors.StripeAuthenticationError) {
    return { kind: 'refused', code: 'key_rejected', message: 'Stripe rejects the API key of this service.', param: '' };
  }
  if (error instanceof Stripe.errors.StripePermissionError) {
    const message = 'The API key of this service may not do this, or not on this account.';
    return { kind: 'refused', code: 'not_permitted', message, param: '' };
  }
  if (error instanceof Stripe.errors.StripeInvalidRequestError) {
    const { code = 'invalid_request', param = '', message } = error;
    return { kind: 'refused', code, message: withoutKeys(message), param };
  }
  return { kind: 'unknown', replayed: error.headers?.['idempotent-replayed'] === 'true' };
}

function withoutKeys(message: string): string {
  return message.replace(/\b(sk|rk|pk|whsec)_[\w*]+/g, '$1_…');
}
