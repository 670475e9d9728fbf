import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Limiter } from '../limits.ts';
import { createRouter, routerPath } from '../route.ts';
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
import { OCT_ROUTES } from './routes/oct.ts';
import { OPERATION_ROUTES } from './routes/operation.ts';
import { PREAUTHORIZATION_ROUTES } from './routes/preauthorization.ts';
import { type WatchOptions, watchOperations } from './watch-operations.ts';

/** What the routes are made of. */
export interface RestOptions extends WatchOptions {
  readonly limiter: Limiter;
}

/** The merchants' routes, in the order in which a path is looked for: a fixed one stands before one with a parameter. */
export const REST_ROUTES = { ...PREAUTHORIZATION_ROUTES, ...OCT_ROUTES, ...OPERATION_ROUTES };

/** Mounts the merchants' routes (docs/product.md, "REST"). A request meets, in this order: its key, its rate, its body, core. */
export function createRest(options: RestOptions): Router {
  const { core, credentials, limiter } = options;
  const handlers: Record<keyof typeof REST_ROUTES, Middleware> = {
    createPreauthorization: createPreauthorization(core),
    capturePreauthorization: capturePreauthorization(core, credentials),
    releasePreauthorization: releasePreauthorization(core),
    listPreauthorizations: listPreauthorizations(core),
    getPreauthorization: getPreauthorization(core),
    createOct: createOct(core),
    getOct: getOct(core),
    listOperations: listOperations(core),
    watchOperations: watchOperations(options),
    getOperation: getOperation(core),
  };
  const router = createRouter();
  router.use(authenticate(credentials), limitRate(limiter));
  for (const [name, route] of Object.entries(REST_ROUTES)) {
    router[route.method](routerPath(route), handlers[name as keyof typeof REST_ROUTES]);
  }
  return router;
}
