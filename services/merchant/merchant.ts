/** A minimal merchant backend: it receives verified notifications and shows them. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { createHttpDoor } from '../../platform/http-server.ts';
import type { Log } from '../../platform/log.ts';
import { takeNotification } from './notification.ts';
import { openReceived, type Received } from './received.ts';
import { returnPage } from './return-page.ts';
import type { MerchantSettings } from './settings.ts';

/** Starts the backend. Returns its port and how to stop it. Throws when the port is taken, naming its setting. */
export async function startMerchant(
  settings: MerchantSettings,
  { log }: { readonly log: Log },
): Promise<{ port: number; close(): Promise<void> }> {
  const received = openReceived(settings.MERCHANT_DATA);
  const app = createApp(settings, received, log);
  const server = createHttpDoor(app.callback());
  try {
    server.listen(settings.MERCHANT_PORT, settings.HOST);
    await once(server, 'listening');
  } catch (cause) {
    received.close();
    throw new Error(`MERCHANT_PORT: cannot listen on ${settings.HOST}:${settings.MERCHANT_PORT}`, { cause });
  }
  let closed: Promise<void> | undefined;
  const close = async () => {
    server.close();
    server.closeIdleConnections();
    await once(server, 'close');
    received.close();
  };
  const { port } = server.address() as AddressInfo;
  return { port, close: () => (closed ??= close()) };
}

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
