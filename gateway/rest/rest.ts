import Router from '@koa/router';
import type { Core } from '../core.ts';
import type { Credentials } from '../credentials.ts';
import type { Limiter } from '../limits.ts';
import type { Log } from '../log.ts';
import { authenticate } from './authenticate.ts';
import { capturePreauthorization } from './capture-preauthorization.ts';
import { createOct } from './create-oct.ts';
import { createPreauthorization } from './create-preauthorization.ts';
import { getOct } from './get-oct.ts';
import { getOperation } from './get-operation.ts';
import { getPreauthorization } from './get-preauthorization.ts';
import { limitRate } from './limit-rate.ts';
import { listOperations } from './list-operations.ts';
import { listPreauthorizations } from './list-preauthorizations.ts';
import { releasePreauthorization } from './release-preauthorization.ts';
import { watchOperations } from './watch-operations.ts';

/** What the routes are made of. */
export interface RestOptions {
  readonly core: Core;
  readonly credentials: Credentials;
  readonly limiter: Limiter;
  readonly log: Log;
  readonly closing: AbortSignal;
  /** Silence after which the stream sends a comment, milliseconds. */
  readonly heartbeatMs: number;
}

/** The merchants' routes (PRODUCT section 7). A request meets, in this order: its key, its rate, its body, core. */
export function createRest(options: RestOptions): Router {
  const { core, credentials, limiter } = options;
  const router = new Router({ sensitive: true, strict: true });
  router.use(authenticate(credentials), limitRate(limiter));
  router.post('/preauthorization', createPreauthorization(core));
  router.post('/preauthorization/authorization', capturePreauthorization(core, credentials));
  router.post('/preauthorization/release', releasePreauthorization(core));
  router.get('/preauthorization', listPreauthorizations(core));
  router.get('/preauthorization/:requestId', getPreauthorization(core));
  router.post('/oct', createOct(core));
  router.get('/oct/:requestId', getOct(core));
  router.get('/operations', listOperations(core));
  router.get('/operations/stream', watchOperations(options));
  router.get('/operations/:requestId', getOperation(core));
  return router;
}
