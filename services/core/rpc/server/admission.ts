import type { Interceptor, UnaryRequest } from '@connectrpc/connect';
import { type Full, Places } from '../../../../platform/places.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import type { Metrics } from '../../metrics/core-metrics.ts';
import { isOfWebhook } from './access.ts';
import { callerKey, OPERATOR_HEADER, peerKey } from './caller.ts';

/**
 * Bounds the calls in progress, shared fairly among accounts; more are rejected before anything is read or stored.
 * Throws UNAVAILABLE when too many are under way, RATE_LIMITED when too many are this account's. Streams have other
 * limits.
 */
export function admits(most: number, observer: Metrics['admission']): Interceptor {
  const calls = new Places({ total: most, share: 1 });
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const account = accountOf(request);
    const place = calls.take(account);
    if (typeof place === 'string') {
      observer.refused(place === 'KEY' ? 'MERCHANT' : 'TOTAL');
      throw refusal(place);
    }
    observer.inFlight(calls.taken);
    try {
      return await next(request);
    } finally {
      place.leave();
      observer.inFlight(calls.taken);
    }
  };
}

function refusal(full: Full): HoldfastError {
  const details = { retryAfterS: 1 };
  if (full === 'TOTAL') return new HoldfastError('UNAVAILABLE', 'too many calls are under way; try again', details);
  return new HoldfastError('RATE_LIMITED', "too many of this merchant's calls are under way; try again", details);
}

/**
 * Whose calls a call counts among: the merchant's for which the gateway calls; otherwise the caller's own, for each
 * merchant that it names, so that nobody's report takes the place of the merchant's own calls. A merchant's webhook
 * counts by itself: its own flood does not stop that.
 */
export function accountOf({ method, message, contextValues, header }: UnaryRequest): string {
  const { merchantId } = message as { merchantId?: unknown };
  const part = isOfWebhook(method) ? 'webhook of merchant' : 'merchant';
  const about = typeof merchantId === 'string' && merchantId !== '' ? `${part} ${merchantId}` : 'all';
  const caller = contextValues.get(callerKey);
  if (caller?.role === 'gateway') return about;
  const name = caller?.role === 'operator' ? (header.get(OPERATOR_HEADER) ?? '') : contextValues.get(peerKey);
  return `${caller?.role} ${caller?.credential} ${name}: ${about}`;
}
