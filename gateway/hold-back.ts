import type { Middleware } from 'koa';
import { Counter, type Registry } from 'prom-client';
import { BoundedMemory } from './bounded-memory.ts';
import { limiterKey, take } from './limits.ts';
import { networkOf } from './network.ts';
import { pause } from './pause.ts';

/** Refusals of one address that are answered at once, per second. */
const AT_ONCE_PER_SECOND = 100;
/** Spread, so that senders who were refused together do not come back together. */
const HELD_MS = { least: 500, most: 1_500 } as const;
/** Beyond so many a refusal is answered at once: each keeps a connection open. */
const MOST_HELD = 1_000;
const MOST_ADDRESSES = 10_000;

/**
 * Lets the refusals of an address wait a second when there are many, unless a credential has told who is asking. Refusing costs, too,
 * and a sender who waits for each answer sends the next request as soon as the last was refused. Nothing is blocked: who shares
 * that address and has a credential notices nothing. Counted in this process, whose time it is about.
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
