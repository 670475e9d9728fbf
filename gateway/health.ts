import type Router from '@koa/router';
import { z } from 'zod';
import type { Core } from './core/client.ts';
import type { Credentials } from './core/credentials.ts';
import type { ClockWatch } from './core/watch-clock.ts';
import { Problem } from './http/problem.ts';
import { createRouter, type HandledRoute, mountRoutes } from './http/route.ts';

/** What readiness depends on. */
export interface HealthOptions {
  readonly core: Pick<Core, 'isServing'>;
  readonly credentials: Pick<Credentials, 'isHeard'>;
  readonly clock: Pick<ClockWatch, 'isSound'>;
  /** Aborted when the gateway stops. */
  readonly closing: AbortSignal;
}

/**
 * GET /healthz: the process runs. GET /readyz: it can serve; 503 while no core can serve, the credentials feed is
 * silent, the clock is off, or the gateway stops.
 */
export const HEALTH_ROUTES = {
  getHealth: {
    method: 'get',
    path: '/healthz',
    tag: 'Service',
    summary: 'Does it run?',
    description: 'The process answers. It says nothing about core; see `/readyz`.',
    credential: 'none',
    answers: { 200: { description: 'Yes', schema: z.object({ status: z.literal('ok') }) } },
    codes: ['INTERNAL'],
    handler: () => ({ status: 'ok' }),
  },
  getReadiness: {
    method: 'get',
    path: '/readyz',
    tag: 'Service',
    summary: 'Can it serve?',
    description:
      '503 while no core can serve, while credentials have not been heard of for 12 seconds, while the clocks of ' +
      'core and gateway are too far apart for the deadlines of calls, or while the gateway stops.',
    credential: 'none',
    answers: { 200: { description: 'Yes', schema: z.object({ status: z.literal('ready') }) } },
    codes: ['INTERNAL', 'UNAVAILABLE'],
    handler: async ({ core, credentials, clock, closing }: HealthOptions) => {
      const ready = !closing.aborted && credentials.isHeard() && clock.isSound() && (await core.isServing());
      if (!ready) throw new Problem('UNAVAILABLE');
      return { status: 'ready' };
    },
  },
} as const satisfies Record<string, HandledRoute>;

/** Mounts the routes about the gateway itself. They take no input. */
export function createHealth(options: HealthOptions): Router {
  return mountRoutes<HandledRoute>(
    createRouter(),
    HEALTH_ROUTES,
    () => [],
    () => options,
  );
}
