import { readFileSync } from 'node:fs';
import Router from '@koa/router';
import Koa from 'koa';
import { errorFields, type Log } from '../../../proto/log.ts';
import type { Clock } from '../clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Reporter } from '../report.ts';
import { findCheckout, say, sayClosed } from './answer.ts';
import type { Capabilities } from './capability.ts';
import { formPage } from './page.ts';
import { protect, showTo } from './security.ts';
import { standingOf } from './submit.ts';
import { takeCard } from './take-card.ts';

/** What the page needs. */
export interface CheckoutSetup {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly capabilities: Capabilities;
  readonly reporter: Pick<Reporter, 'wake' | 'reported'>;
  /** Scheme, host and port under which customers see the page; known once it listens. */
  readonly origin: () => string;
}

const STYLE = readFileSync(new URL('./checkout.css', import.meta.url));

/** The hosted page: GET shows the form, POST authorizes. */
export function checkoutApp(setup: CheckoutSetup): Koa {
  const app = new Koa();
  app.on('error', (error: unknown) => setup.log.error('checkout failed', errorFields(error)));
  const router = new Router();
  router.get('/healthz', (context) => {
    context.body = 'ok';
  });
  router.get('/checkout.css', (context) => {
    context.set('Cache-Control', 'public, max-age=300');
    context.type = 'text/css';
    context.body = STYLE;
  });
  router.get('/checkout/:capability', (context) => showForm(setup, context, String(context.params.capability)));
  router.post('/checkout/:capability', (context) => takeCard(setup, context, String(context.params.capability)));
  app.use(protect);
  app.use(logged(setup.log));
  app.use(router.routes()).use(router.allowedMethods());
  app.use((context) => {
    if (context.status === 404) say(context, 404, 'Page not found', 'There is nothing here.');
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

function showForm(setup: CheckoutSetup, context: Koa.Context, capability: string): void {
  const found = findCheckout(setup, context, capability);
  if (!found) return;
  const standing = standingOf(found.checkout, found.entry, setup.clock.now());
  if (standing !== 'open') {
    sayClosed(context, standing, found.checkout);
    return;
  }
  showTo(context, found.checkout);
  context.body = formPage({ ...found, formToken: setup.capabilities.formTokenOf(capability) });
}
