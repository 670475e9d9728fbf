/** A minimal merchant backend: it receives verified notifications and shows them. */
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import { closeServer, createBoundedServer, listen } from '../../platform/http-server.ts';
import type { Log } from '../../platform/log.ts';
import { takeNotification } from './notification.ts';
import { openReceived, type Received } from './received.ts';
import type { MerchantSettings } from './settings.ts';

/** Starts the backend. Returns its port and how to stop it. Throws when the port is taken, naming its setting. */
export async function startMerchant(settings: MerchantSettings, { log }: { readonly log: Log }) {
  await using started = new AsyncDisposableStack();
  const received = started.adopt(openReceived(settings.MERCHANT_DATA), ({ close }) => close());
  const app = createApp(settings, received, log);
  const server = createBoundedServer(app.callback());
  started.defer(() => closeServer(server, GRACE_MS));
  const port = await listen(server, 'MERCHANT_PORT', settings.MERCHANT_PORT, settings.HOST);
  log.info('ready', { port });
  const running = started.move();
  return { port, close: () => running.disposeAsync() };
}

const GRACE_MS = 10_000;

function createApp(settings: MerchantSettings, received: Received, log: Log): Koa {
  const router = new Router();
  router.post('/webhook/processor/:kind/:statusInfo', (ctx) =>
    takeNotification(ctx, ctx.params as { kind: string; statusInfo: string }, { settings, received, log }),
  );
  router.get('/received', (ctx) => {
    const { requestId } = ctx.query;
    ctx.set('cache-control', 'no-store');
    ctx.body = received.list(typeof requestId === 'string' ? requestId : undefined);
  });
  router.get('/return', returnPage);
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => log.error('failed', { reason: error.code ?? error.name }));
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

/**
 * Where the checkout sends the customer back to: a page that names the operation. The name proves nothing: a real
 * merchant asks Holdfast what became of it.
 */
function returnPage(ctx: Context): void {
  const { requestId } = ctx.query;
  const named = typeof requestId === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(requestId) ? requestId : 'unknown';
  ctx.set('cache-control', 'no-store');
  ctx.set('referrer-policy', 'no-referrer');
  ctx.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  ctx.type = 'html';
  ctx.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Back at the demo merchant</title>
<h1>Thank you</h1>
<p>You are back at the demo merchant. Operation: <code>${named}</code>.</p>
<p>Coming back proves nothing; the shop now asks Holdfast: <code>GET /preauthorization/${named}</code>.</p>
</html>
`;
}
