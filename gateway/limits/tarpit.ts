import type { Middleware } from 'koa';
import { Counter, type Registry } from 'prom-client';
import { pause } from '../http/abortable-delay.ts';
import { networkOf } from '../http/client-address.ts';
import { BoundedMemory } from './bounded-memory.ts';
import { limiterKey, take } from './limits.ts';

/** Refusals of one address per second that are answered at once. */
const AT_ONCE_PER_SECOND = 100;
/** Random, so that senders who were refused together do not return together. */
const HELD_MS = { least: 500, most: 1_500 } as const;
/** Each delayed refusal keeps a connection open, so above this number refusals are answered at once. */
const MOST_HELD = 1_000;
const MOST_ADDRESSES = 10_000;

/**
 * Delays the refusals of an address by about a second when there are many of them, unless the request was authenticated. A refusal costs
 * time, too, and a client that waits for each answer sends its next request as soon as it was refused. Nothing is blocked: authenticated
 * clients behind the same address are not delayed. Counted in this process, because its time is what is protected.
 */
export function holdBackRefusals(registry: Registry, closing: AbortSignal): Middleware {
  const held = new Counter({
    name: 'holdfast_http_refusals_held_total',
    help: 'Refusals that waited a second because their address got many.',
    registers: [registry],
  });
  const refusals = new BoundedMemory({ points: AT_ONCE_PER_SECOND, duration: 1 }, { maxKeys: MOST_ADDRESSES });
  let heldCount = 0;
  return async (ctx, next) => {
    await next();
    if (ctx.status < 400 || ctx.status >= 500 || ctx.state.merchantId !== undefined || ctx.state.operator) return;
    const { allowed } = await take(refusals, limiterKey(networkOf(ctx.ip)));
    if (allowed || heldCount === MOST_HELD) return;
    heldCount += 1;
    held.inc();
    const heldMs = HELD_MS.least + Math.random() * (HELD_MS.most - HELD_MS.least);
    ctx.state.heldMs = heldMs;
    await pause(heldMs, closing);
    heldCount -= 1;
  };
}
