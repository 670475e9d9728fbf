import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { errorFields, type Log } from '../../../platform/log.ts';
import { type CheckoutSetup, findCheckout, protect, say, showStanding } from './answer.ts';
import { takeForm } from './take-form.ts';
import { WORDS } from './words.ts';

/** What the page loads. */
const ASSETS = ['checkout.css', 'checkout.js'].map(
  (name) => [name, readFileSync(new URL(name, import.meta.url))] as const,
);

/** The hosted page: GET shows how a checkout stands, POST moves it on. */
export function checkoutApp(setup: CheckoutSetup): Koa {
  const app = new Koa();
  app.on('error', (error: unknown) => setup.log.error('checkout failed', errorFields(error)));
  const router = new Router();
  router.get('/healthz', (context) => {
    context.body = 'ok';
  });
  for (const [name, content] of ASSETS) {
    router.get(`/${name}`, (context) => {
      context.set('Cache-Control', 'public, max-age=300');
      context.type = extname(name);
      context.body = content;
    });
  }
  router.get('/checkout/:capability', (context) => {
    const capability = String(context.params.capability);
    const found = findCheckout(setup, context, capability);
    if (found) showStanding(setup, context, capability, found);
  });
  router.post('/checkout/:capability', (context) => takeForm(setup, context, String(context.params.capability)));
  app.use(protect);
  app.use(logged(setup.log));
  app.use(router.routes()).use(router.allowedMethods());
  app.use((context) => {
    if (context.status === 404) say(context, 404, WORDS.unknownPage);
  });
  return app;
}

/** One line per request, without its address: that is the capability. */
function logged(log: Log): Koa.Middleware {
  return async (context, next) => {
    const startedAtMs = performance.now();
    try {
      await next();
    } finally {
      log.info('checkout', {
        method: context.method,
        requestId: context.state.requestId,
        httpStatus: context.status,
        durationMs: Math.round(performance.now() - startedAtMs),
      });
    }
  };
}
