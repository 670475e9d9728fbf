/** The relay: takes notifications from the internet, and passes each verified one to core once. */
import type { Middleware } from 'koa';
import { networkOf } from '../http/client-address.ts';
import { demandRate } from '../limits/rate-limit.ts';
import { openAccept } from './accept-notifications.ts';
import { createBodyBudget } from './body-budget.ts';
import { countOutcomes } from './count-outcomes.ts';
import { createFailures } from './failures.ts';
import { createPenalties } from './penalties.ts';
import { PREFIX, readPath } from './read-path.ts';
import { relayNotification } from './relay-notification.ts';
import type { RelayOptions } from './relay-options.ts';

/** The running relay. */
export interface Relay {
  /** Answers everything below /webhook/processor/ and calls `next` for the rest. Throws refusals as Problem or BodyRefusal. */
  readonly middleware: Middleware;
  /** Reports the last failures to core. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024;
const BODY_TIMEOUT_MS = 5_000;

/**
 * Mounts the relay (docs/product.md, "Relay"). Everything below its prefix counts against the sender's address before anything else,
 * unknown paths and wrong methods included, so no router stands in front of it.
 */
export function createRelay(options: RelayOptions): Relay {
  const { credentials, limits, notifications, log } = options;
  const perSecond = (name: string, points: number) => limits.limiter({ name, points, durationSeconds: 1 });
  const addressLimiter = perSecond('relay-address', options.addressPerSecond);
  const bounds = { maxBytes: MAX_BODY_BYTES, timeoutMs: options.bodyTimeoutMs ?? BODY_TIMEOUT_MS };
  const failures = createFailures(options);
  const needs = {
    credentials,
    notifications,
    log,
    failures,
    verifiedLimiter: perSecond('relay-verified', options.verifiedPerSecond),
    bodies: createBodyBudget(limits, options.addressPerSecond, bounds),
    penalties: createPenalties(limits, log),
    accept: openAccept(notifications),
  };
  const counted = countOutcomes(options.registry, async (ctx) => {
    const network = networkOf(ctx.ip);
    await demandRate(addressLimiter, network);
    await relayNotification.handler({ ...needs, ctx, network, announced: readPath(ctx) });
  });
  return {
    middleware: async (ctx, next) => (ctx.path.startsWith(PREFIX) ? counted(ctx) : next()),
    close: failures.close,
  };
}
