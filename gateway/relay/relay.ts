/** The relay: takes notifications from the internet, and passes each verified one to core once. */
import type { Context, Middleware } from 'koa';
import { Counter, type Registry } from 'prom-client';
import { networkOf } from '../http/client-address.ts';
import { Problem } from '../http/problem.ts';
import { demandRate } from '../limits/rate-limit.ts';
import { openAccept } from './accept-notifications.ts';
import type { Announced } from './announced.ts';
import { createBodyBudget } from './body-budget.ts';
import { createFailures } from './failures.ts';
import { createPenalties } from './penalties.ts';
import { relayNotification } from './relay-notification.ts';
import type { RelayOptions } from './relay-options.ts';

export interface Relay {
  /** Answers everything below /webhook/processor/ and calls `next` for the rest. Throws Problem. */
  readonly middleware: Middleware;
  /** Reports the last failures to core. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024;
const BODY_TIMEOUT_MS = 5_000;

/**
 * Mounts the relay (docs/relay.md, "Guards"). Everything below its prefix counts against the sender's address before
 * anything else, unknown paths and wrong methods included, so no router stands in front of it.
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

/** Counts the requests to the relay by kind and HTTP status. */
function countOutcomes(registry: Registry, answer: (ctx: Context) => Promise<void>): (ctx: Context) => Promise<void> {
  const requests = new Counter({
    name: 'holdfast_relay_requests_total',
    help: 'Requests to the webhook relay, by kind and HTTP status of the answer.',
    labelNames: ['kind', 'status'],
    registers: [registry],
  });
  const count = (ctx: Context, status: number) => {
    const [, kind = 'none'] = /^\/webhook\/processor\/(payment|oct)\//.exec(ctx.path) ?? [];
    requests.inc({ kind, status });
  };
  return async (ctx) => {
    try {
      await answer(ctx);
      count(ctx, ctx.status);
    } catch (error) {
      count(ctx, error instanceof Problem ? error.status : 500);
      throw error;
    }
  };
}

const { path, method, parameters } = relayNotification;
const METHOD = method.toUpperCase();
const PATTERN = new RegExp(
  `^${path.replace('{kind}', `(${parameters.kind.options.join('|')})`).replace('{statusInfo}', '([^/]*)')}$`,
);

/** What every path of the relay starts with. */
const PREFIX = path.slice(0, path.indexOf('{'));

/**
 * Matches method and path with the route's description, as they were sent: a router would decode `%61` to `a`, and the
 * next reader may not. Throws METHOD_NOT_ALLOWED, and NOT_FOUND for an unknown path or a malformed statusInfo.
 */
function readPath(ctx: Context): Announced {
  const [, kind, statusInfo = ''] = PATTERN.exec(ctx.path) ?? [];
  if (kind === undefined) throw new Problem('NOT_FOUND');
  ctx._matchedRoute = `${PREFIX}${kind}/:statusInfo`;
  if (ctx.method !== METHOD) throw new Problem('METHOD_NOT_ALLOWED', { headers: { Allow: METHOD } });
  if (!parameters.statusInfo.safeParse(statusInfo).success) throw new Problem('NOT_FOUND');
  return { kind: kind as Announced['kind'], statusInfo };
}
