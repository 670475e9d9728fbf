/** The gateway's Prometheus metrics, and GET /metrics behind a token. */
import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client';
import { bearerCheck } from '../platform/bearer-check.ts';
import type { Credentials } from './core/credentials.ts';
import type { ClockWatch } from './core/watch-clock.ts';
import type { Ended } from './http/exchange.ts';
import { createRouter } from './http/route.ts';
import { metricsOfAll } from './processes.ts';

/** Counts and times requests that have ended, by their route's pattern, never their path. */
export function requestMeter(registry: Registry): (ended: Ended) => void {
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
  return ({ method, route, status, durationMs }) => {
    const labels = { method: METHODS.has(method) ? method : 'other', route };
    requests.inc({ ...labels, status });
    seconds.observe(labels, durationMs / 1_000);
  };
}

/** Gauges of the process, of its credentials and of its clock. */
export function exportRuntime(
  registry: Registry,
  credentials: Pick<Credentials, 'isFresh'>,
  clock: Pick<ClockWatch, 'offsetS'>,
): void {
  new Gauge({
    name: 'holdfast_clock_offset_seconds',
    help: "How far this process's clock is ahead of core's; no value until it was measured.",
    registers: [registry],
    aggregator: 'max',
    collect() {
      this.remove();
      const offsetS = clock.offsetS();
      if (offsetS !== undefined) this.set(offsetS);
    },
  });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'holdfast_credentials_fresh',
    help: 'Whether the credentials that core sends are fresh enough to judge by: 1, or 0 while requests get 503.',
    registers: [registry],
    aggregator: 'min',
    collect() {
      this.set(credentials.isFresh() ? 1 : 0);
    },
  });
}

/** GET /metrics, for who shows one of the `tokens` of scrapers (undefined = there is none), and behind `requiresOperator`. */
export function createMetrics(registry: Registry, tokens: string | undefined, requiresOperator: Middleware): Router {
  const router = createRouter();
  const isShown = tokens === undefined ? () => false : bearerCheck(tokens);
  const requiresToken: Middleware = (ctx, next) =>
    isShown(ctx.get('authorization')) ? next() : requiresOperator(ctx, next);
  const read = metricsOfAll(registry);
  router.get('/metrics', requiresToken, async (ctx) => {
    ctx.type = registry.contentType;
    ctx.body = await read();
  });
  return router;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
