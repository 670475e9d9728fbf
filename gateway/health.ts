import type Router from '@koa/router';
import { z } from 'zod';
import type { Core } from './core.ts';
import type { Credentials } from './credentials.ts';
import { Problem } from './problem.ts';
import { createRouter, type Route, routerPath } from './route.ts';

/** Questions about the gateway itself. */
export const HEALTH_ROUTES = {
  getHealth: {
    method: 'get',
    path: '/healthz',
    tag: 'Service',
    summary: 'Does it run?',
    credential: 'none',
    answers: { 200: { description: 'Yes', schema: z.object({ status: z.literal('ok') }) } },
    codes: ['INTERNAL'],
  },
  getReadiness: {
    method: 'get',
    path: '/readyz',
    tag: 'Service',
    summary: 'Can it serve?',
    credential: 'none',
    answers: { 200: { description: 'Yes', schema: z.object({ status: z.literal('ready') }) } },
    codes: ['INTERNAL', 'UNAVAILABLE'],
  },
} as const satisfies Record<string, Route>;

/**
 * GET /healthz: the process runs. GET /readyz: it can serve; 503 while no core says that it can (its database answers), while
 * it has not been heard of, or while we are stopping.
 */
export function createHealth(
  core: Pick<Core, 'isServing'>,
  credentials: Pick<Credentials, 'isHeard'>,
  closing: AbortSignal,
): Router {
  const router = createRouter();
  router.get(routerPath(HEALTH_ROUTES.getHealth), (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get(routerPath(HEALTH_ROUTES.getReadiness), async (ctx) => {
    const ready = !closing.aborted && credentials.isHeard() && (await core.isServing());
    if (!ready) throw new Problem('UNAVAILABLE');
    ctx.body = { status: 'ready' };
  });
  return router;
}
