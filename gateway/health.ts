import type Router from '@koa/router';
import { z } from 'zod';
import { Problem } from './http/problem.ts';
import { createRouter, mountRoutes, type TableRoute } from './http/route.ts';

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
    handler: async ({ isReady }: { readonly isReady: () => Promise<boolean> }) => {
      if (!(await isReady())) throw new Problem('UNAVAILABLE');
      return { status: 'ready' };
    },
  },
} as const satisfies Record<string, TableRoute>;

/** Mounts the routes about the gateway itself. They take no input. */
export function createHealth(isReady: () => Promise<boolean>): Router {
  const call = { isReady };
  return mountRoutes(
    createRouter(),
    HEALTH_ROUTES,
    () => [],
    () => call,
  );
}
