/** What the gateway counts, by Prometheus' convention, and GET /metrics behind the operator token. */
import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import Router from '@koa/router';
import type { Context } from 'koa';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client';
import type { Core } from './core.ts';
import type { Credentials } from './credentials.ts';
import { routeOf } from './log-requests.ts';
import { isServiceError, Problem } from './problem.ts';

/** Counts and times requests that have ended, by their route's pattern, never their path. */
export function requestMeter(registry: Registry): (ctx: Context, durationMs: number) => void {
  const registers = [registry];
  const requests = new Counter({
    name: 'holdfast_http_requests_total',
    help: 'Requests to the gateway, by method, route and HTTP status of the answer.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'holdfast_http_request_duration_seconds',
    help: 'How long requests to the gateway took, by method and route; streams count until they end.',
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return (ctx, durationMs) => {
    const labels = { method: METHODS.has(ctx.method) ? ctx.method : 'other', route: routeOf(ctx) };
    requests.inc({ ...labels, status: ctx.status });
    seconds.observe(labels, durationMs / 1_000);
  };
}

/** Gauges of the process itself, and of what it knows. */
export function exportRuntime(registry: Registry, credentials: Pick<Credentials, 'isHeard' | 'isFresh'>): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'holdfast_credentials_fresh',
    help: 'Whether the credentials that core tells are fresh enough to judge by: 1, or 0 when requests are answered 503.',
    registers: [registry],
    collect() {
      this.set(credentials.isFresh() ? 1 : 0);
    },
  });
}

/** GET /metrics. */
export function createMetrics(registry: Registry, core: Pick<Core, 'operators'>): Router {
  const demandOperator = operatorCheck(core);
  const router = new Router();
  router.get('/metrics', async (ctx) => {
    await demandOperator(ctx);
    ctx.type = registry.contentType;
    ctx.body = await registry.metrics();
  });
  return router;
}

/** Metrics matter most while core is away, so a token that core knew lately is good for as long as core says nothing else. */
const KNOWN_MS = 60_000;

/** The gateway holds no operator token: core judges, by a call that only operators may make. */
function operatorCheck(core: Pick<Core, 'operators'>): (ctx: Context) => Promise<void> {
  let known = { hash: '', atMs: Number.NEGATIVE_INFINITY };
  return async (ctx) => {
    const authorization = ctx.get('authorization');
    if (!/^Bearer [\x21-\x7E]{32,256}$/.test(authorization)) throw new Problem('UNAUTHENTICATED');
    const hash = createHash('sha256').update(authorization).digest('base64');
    if (hash === known.hash && performance.now() - known.atMs < KNOWN_MS) return;
    try {
      await core.operators.checkOperator({}, { timeoutMs: 2_000, metadata: { authorization } });
    } catch (error) {
      const isAway = isServiceError(error) && AWAY.has(error.code);
      if (isAway && hash === known.hash) return;
      throw error;
    }
    known = { hash, atMs: performance.now() };
  };
}

const AWAY = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
