import { setTimeout as delay } from 'node:timers/promises';
import Stripe from 'stripe';
import { turnedAway } from '../../../platform/adapter/ending.ts';
import type { KeptResult } from '../../../platform/adapter/entry.ts';
import { declinedCardOf } from './card.ts';

/** Why a request to Stripe has no result. */
export type Failure =
  /** The card's issuer said no. Nothing was done. */
  | { readonly kind: 'declined'; readonly code: string; readonly message: string; readonly card: Partial<KeptResult> }
  /** Stripe rejected the request. Nothing was done. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly param: string }
  /** Too many requests, another one works on the object, or the API key may not (`turnedAway()`). */
  | { readonly kind: 'turned away'; readonly code: string; readonly message: string; readonly isPassing: boolean }
  /** The idempotency key was used with other parameters: something else was done under it. */
  | { readonly kind: 'key reused' }
  /**
   * No answer, an error of Stripe's own, or another request is in progress under this key. `replayed`: this error is
   * stored, the request has ended.
   */
  | { readonly kind: 'unknown'; readonly replayed: boolean };

/** What a request came to. `doubt`: one of its attempts may have acted without an answer. */
export type Answered<T> =
  | { readonly answer: T; readonly failure?: undefined }
  | { readonly answer?: undefined; readonly failure: Failure; readonly doubt: boolean };

/** How often, and how long, a request is repeated. */
export interface Patience {
  /** No attempt begins later than this after the first, milliseconds. */
  readonly budgetMs: number;
  /** The first wait; each further one is twice as long, and all are spread. */
  readonly firstWaitMs: number;
}

/** Below core's own patience of 5 s for the usual case, and below a lease for the worst. */
export const PATIENCE: Patience = { budgetMs: 4_000, firstWaitMs: 200 };

/** Attempts in all; a rate limit ends sooner when the budget is used up. */
const MOST_ATTEMPTS = 5;

/**
 * Makes a request, and makes it again when Stripe is busy or gave no answer: always under the same idempotency key, so
 * it acts once. A stored error is not asked for again.
 */
export async function ask<T>(
  { patience }: { readonly patience: Patience },
  request: () => Promise<T>,
): Promise<Answered<T>> {
  const startedMs = performance.now();
  let doubt = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return { answer: await request() };
    } catch (error) {
      const failure = failureOf(error);
      doubt ||= failure.kind === 'unknown';
      const isPassing = failure.kind === 'turned away' && failure.isPassing;
      const isRepeated = isPassing || (failure.kind === 'unknown' && !failure.replayed);
      const waitMs = patience.firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random());
      const isOver = performance.now() - startedMs + waitMs > patience.budgetMs;
      if (!isRepeated || isOver || attempt === MOST_ATTEMPTS) return { failure, doubt };
      await delay(waitMs);
    }
  }
}

/** Classifies an error of Stripe's client. Rethrows any other error: that is our bug. */
function failureOf(error: unknown): Failure {
  if (!(error instanceof Stripe.errors.StripeError)) throw error;
  if (error.statusCode === 409) return { kind: 'unknown', replayed: false };
  if (error instanceof Stripe.errors.StripeIdempotencyError) return { kind: 'key reused' };
  if (error instanceof Stripe.errors.StripeCardError) {
    const code = error.decline_code || error.code || 'card_declined';
    return { kind: 'declined', code, message: error.message, card: declinedCardOf(error) };
  }
  const refusal = turnedAway('Stripe', error.statusCode);
  if (refusal) return { kind: 'turned away', ...refusal };
  if (error instanceof Stripe.errors.StripeInvalidRequestError) {
    const { code = 'invalid_request', param = '', message } = error;
    return { kind: 'refused', code, message: withoutKeys(message), param };
  }
  return { kind: 'unknown', replayed: error.headers?.['idempotent-replayed'] === 'true' };
}

function withoutKeys(message: string): string {
  return message.replace(/\b(sk|rk|pk|whsec)_[\w*]+/g, '$1_…');
}
