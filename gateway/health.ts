import Router from '@koa/router';
import type { Credentials } from './credentials.ts';
import { Problem } from './problem.ts';

/** GET /healthz: the process runs. GET /readyz: it can serve; 503 while core does not answer or we are stopping. */
export function createHealth(credentials: Credentials, closing: AbortSignal): Router {
  const router = new Router();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', (ctx) => {
    if (closing.aborted || !credentials.isHeard()) throw new Problem('UNAVAILABLE');
    ctx.body = { status: 'ready' };
  });
  return router;
}
