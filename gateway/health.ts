import Router from '@koa/router';
import type { Core } from './core.ts';
import type { Credentials } from './credentials.ts';
import { Problem } from './problem.ts';

/**
 * GET /healthz: the process runs. GET /readyz: it can serve; 503 while no core says that it can (its database answers), while
 * it has not been heard of, or while we are stopping.
 */
export function createHealth(
  core: Pick<Core, 'isServing'>,
  credentials: Pick<Credentials, 'isHeard'>,
  closing: AbortSignal,
): Router {
  const router = new Router();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const ready = !closing.aborted && credentials.isHeard() && (await core.isServing());
    if (!ready) throw new Problem('UNAVAILABLE');
    ctx.body = { status: 'ready' };
  });
  return router;
}
