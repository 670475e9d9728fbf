import type { Interceptor, UnaryRequest } from '@connectrpc/connect';
import { FairShare } from '../../../../platform/fair-share.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import type { Metrics } from '../../metrics/core-metrics.ts';
import { isOfWebhook } from './access.ts';
import { callerKey } from './caller.ts';

/** Bounds the calls in progress, shared fairly among merchants; more are rejected before anything is read or stored. */
export class Admission {
  readonly #calls: FairShare;
  readonly #observer: Metrics['admission'] | undefined;

  constructor(most: number, observer?: Metrics['admission']) {
    this.#calls = new FairShare(most);
    this.#observer = observer;
  }

  /** Admits a call. Throws UNAVAILABLE when too many are under way, RATE_LIMITED when too many are this merchant's. */
  enter(merchant: string): void {
    const full = this.#calls.enter(merchant);
    if (full) {
      this.#observer?.refused(full === 'OWNER' ? 'MERCHANT' : 'TOTAL');
      throw refusal(full);
    }
    this.#observer?.inFlight(this.#calls.inFlight);
  }

  leave(merchant: string): void {
    this.#calls.leave(merchant);
    this.#observer?.inFlight(this.#calls.inFlight);
  }
}

function refusal(full: 'TOTAL' | 'OWNER'): HoldfastError {
  const details = { retryAfterS: 1 };
  if (full === 'TOTAL') return new HoldfastError('UNAVAILABLE', 'too many calls are under way; try again', details);
  return new HoldfastError('RATE_LIMITED', "too many of this merchant's calls are under way; try again", details);
}

/** Whose calls a call counts among. A merchant's webhook counts by itself: its own flood does not stop that. */
export function accountOf({ method, message, contextValues }: UnaryRequest): string {
  const { merchantId } = message as { merchantId?: unknown };
  const isNamed = typeof merchantId === 'string' && merchantId !== '';
  const part = isOfWebhook(method) ? 'webhook of merchant' : 'merchant';
  return isNamed ? `${part} ${merchantId}` : `role ${contextValues.get(callerKey)}`;
}

/** Admits unary calls, by their accounts. Streams have other limits. */
export function admits(admission: Admission): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const account = accountOf(request);
    admission.enter(account);
    try {
      return await next(request);
    } finally {
      admission.leave(account);
    }
  };
}
