import type { Interceptor, UnaryRequest } from '@connectrpc/connect';
import { FairShare } from '../../../../platform/fair-share.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import type { Metrics } from '../../metrics/core-metrics.ts';
import { isOfWebhook } from './access.ts';
import { callerKey } from './caller.ts';

/**
 * Bounds the calls in progress, shared fairly among accounts; more are rejected before anything is read or stored.
 * Throws UNAVAILABLE when too many are under way, RATE_LIMITED when too many are this account's. Streams have other
 * limits.
 */
export function admits(most: number, observer: Metrics['admission']): Interceptor {
  const calls = new FairShare(most);
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const account = accountOf(request);
    const full = calls.enter(account);
    if (full) {
      observer.refused(full === 'OWNER' ? 'MERCHANT' : 'TOTAL');
      throw refusal(full);
    }
    observer.inFlight(calls.inFlight);
    try {
      return await next(request);
    } finally {
      calls.leave(account);
      observer.inFlight(calls.inFlight);
    }
  };
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
  return isNamed ? `${part} ${merchantId}` : `role ${contextValues.get(callerKey)?.role}`;
}
