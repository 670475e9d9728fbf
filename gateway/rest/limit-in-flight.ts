import type { Middleware } from 'koa';
import { Counter, type Registry } from 'prom-client';
import { Places } from '../../platform/places.ts';
import { Problem } from '../http/problem.ts';
import type { Route } from '../http/route.ts';
import { identityOf } from './authenticate.ts';

/**
 * Writes of any kind on one hold at one gateway. Core judges them one after the other, so more would only wait there,
 * and delay others: beside 3 000 at once a neighbour waited 3.7 s with this bound and 8.6 s without, and was refused 52
 * times (2 busy cores).
 */
export const WRITES_PER_HOLD = 32;

export type InFlightLimits = ReturnType<typeof limitInFlight>;

/**
 * Bounds the requests under way at this gateway, in all, for each merchant, and the writes on each hold. What is
 * over is refused before core is asked: core would refuse it too, at several times the cost, and while the gateway is
 * busy with that, other merchants' connections wait to be accepted.
 */
export function limitInFlight(most: number, registry: Registry) {
  const requests = new Places({ total: most, share: 1 });
  const writes = new Places({ perKey: WRITES_PER_HOLD });
  const refused = new Counter({
    name: 'holdfast_calls_refused_total',
    help:
      'Calls refused because too many are under way: in all (TOTAL), of one merchant (MERCHANT), writes on ' +
      'one hold (HOLD).',
    labelNames: ['reason'],
    registers: [registry],
  });
  function refusal(reason: 'TOTAL' | 'MERCHANT' | 'HOLD', detail: string): Problem {
    refused.inc({ reason });
    return new Problem(reason === 'TOTAL' ? 'UNAVAILABLE' : 'RATE_LIMITED', { detail, retryAfterSeconds: 1 });
  }
  return {
    /**
     * Middleware behind authenticate(), before any of the body is read. Throws RATE_LIMITED when the merchant has its
     * share, UNAVAILABLE when nothing is free. What it does with its webhook has a share of its own, so that a
     * terminal's flood does not stop that.
     */
    limitMerchant({ tag }: Route): Middleware {
      const part = tag === 'Webhook' ? 'webhook of ' : '';
      return async (ctx, next) => {
        const account = part + identityOf(ctx).merchantId;
        const place = requests.take(account);
        if (place === 'TOTAL') throw refusal('TOTAL', 'Too many requests are under way.');
        if (place === 'KEY') throw refusal('MERCHANT', "Too many of this merchant's requests are under way.");
        try {
          await next();
        } finally {
          place.leave();
        }
      };
    },
    /**
     * Takes a place for a write on the hold that the request names, or on the hold of the capture, until the result is
     * disposed of. Throws RATE_LIMITED when all places are taken.
     */
    enterHold(merchantId: string, id: string | undefined): Disposable {
      // Another merchant that names this hold, which core answers 404, takes none of its places.
      const place = writes.take(`${merchantId} ${id}`);
      if (typeof place === 'string') throw refusal('HOLD', 'Too many requests about this hold are under way.');
      return place;
    },
  };
}
