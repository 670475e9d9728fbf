import { setTimeout as delay } from 'node:timers/promises';
import { type Failure, failureOf } from './failure.ts';

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
export async function ask<T>(request: () => Promise<T>, patience: Patience = PATIENCE): Promise<Answered<T>> {
  const startedMs = performance.now();
  let doubt = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return { answer: await request() };
    } catch (error) {
      const failure = failureOf(error);
      doubt ||= failure.kind === 'unknown';
      const isRepeated = failure.kind === 'busy' || (failure.kind === 'unknown' && !failure.replayed);
      const waitMs = patience.firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random());
      const isOver = performance.now() - startedMs + waitMs > patience.budgetMs;
      if (!isRepeated || isOver || attempt === MOST_ATTEMPTS) return { failure, doubt };
      await delay(waitMs);
    }
  }
}
