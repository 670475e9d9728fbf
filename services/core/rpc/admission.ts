import type { Interceptor } from '@connectrpc/connect';
import { HoldfastError } from '../domain/refusal.ts';
import { callerKey } from './caller.ts';

/** Counts what is admitted and refused. */
export interface AdmissionObserver {
  inFlight(count: number): void;
  refused(reason: 'TOTAL' | 'MERCHANT'): void;
}

/**
 * Bounds the calls under way in this process. A merchant may have as many as it leaves free (dynamic thresholds: Choudhury and Hahne,
 * "Dynamic queue length thresholds for shared-memory packet switches", 1998): one merchant alone gets half of them, n merchants that
 * flood share n/(n+1) of them, and there is always room for one that has none. What is over is refused at once, before anything is
 * read or stored.
 */
export class Admission {
  readonly #most: number;
  readonly #observer: AdmissionObserver | undefined;
  readonly #ofMerchant = new Map<string, number>();
  #inFlight = 0;

  constructor(most: number, observer?: AdmissionObserver) {
    this.#most = most;
    this.#observer = observer;
  }

  /** Admits a call. Throws UNAVAILABLE when too many are under way, RATE_LIMITED when too many are this merchant's. */
  enter(merchant: string): void {
    const own = this.#ofMerchant.get(merchant) ?? 0;
    const free = this.#most - this.#inFlight;
    if (free <= 0) throw this.#refusal('TOTAL');
    if (own >= free) throw this.#refusal('MERCHANT');
    this.#ofMerchant.set(merchant, own + 1);
    this.#count(1);
  }

  leave(merchant: string): void {
    const own = (this.#ofMerchant.get(merchant) ?? 1) - 1;
    if (own > 0) this.#ofMerchant.set(merchant, own);
    else this.#ofMerchant.delete(merchant);
    this.#count(-1);
  }

  #count(change: 1 | -1): void {
    this.#inFlight += change;
    this.#observer?.inFlight(this.#inFlight);
  }

  #refusal(reason: 'TOTAL' | 'MERCHANT'): HoldfastError {
    this.#observer?.refused(reason);
    const details = { retryAfterS: 1 };
    if (reason === 'TOTAL') return new HoldfastError('UNAVAILABLE', 'too many calls are under way; try again', details);
    return new HoldfastError('RATE_LIMITED', "too many of this merchant's calls are under way; try again", details);
  }
}

/** Admits unary calls, each on the account of the merchant that it names, or of its role. Streams are bounded elsewhere. */
export function admits(admission: Admission): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const { merchantId } = request.message as { merchantId?: unknown };
    const named = typeof merchantId === 'string' && merchantId !== '';
    const account = named ? `merchant ${merchantId}` : `role ${request.contextValues.get(callerKey)}`;
    admission.enter(account);
    try {
      return await next(request);
    } finally {
      admission.leave(account);
    }
  };
}
