/**
 * The service as a good team writes it by hand: Koa, raw pg, row at a time, each request with two commits of its own
 * and the same processor asked between them; and a webhook receiver that verifies an HMAC and stores with one INSERT.
 * No gathering, no core behind it, no recovery, no deliveries sent. A process of its own, as ours are.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { Answer, ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { endModule, isStarted, startModule } from '../child.ts';
import { connect } from '../connect.ts';
import type { House } from '../house.ts';
import { TABLES, type Transact, transactionsOf } from './scripts.ts';

interface Order {
  readonly databaseUrl: string;
  readonly processor: { readonly address: string; readonly token: string };
  /** Of the only merchant. */
  readonly apiKey: string;
  readonly signingSecret: string;
}

/** Starts it in a process of its own, on the database and the processor of the house. */
export async function openPlainService(house: House, apiKey: string, signingSecret: string) {
  await house.query(TABLES);
  const child = startModule(import.meta.url);
  const processor = { address: `127.0.0.1:${house.ports.SANDBOX_PORT}`, token: house.secrets.processorCredential };
  child.send({ databaseUrl: house.databaseUrl, processor, apiKey, signingSecret } satisfies Order);
  const [port] = (await once(child, 'message')) as [number];
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    close: () => endModule(child),
  };
}

async function serve({ databaseUrl, processor, apiKey, signingSecret }: Order): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 32 });
  const { client: card } = connect(ProcessorService, processor.address, processor.token);
  const keyHash = createHash('sha256').update(apiKey).digest();
  const [storeHold, settleHold] = transactionsOf('hold');
  const [storeCapture, settleCapture] = transactionsOf('capture');
  const transact = async (transaction: Transact | undefined, values: Readonly<Record<string, string>>) => {
    const client = await pool.connect();
    try {
      await transaction?.(client, values);
    } finally {
      client.release();
    }
  };
  const authenticate = (ctx: Context) => {
    const given = createHash('sha256').update(ctx.get('authorization').replace('Bearer ', '')).digest();
    if (!timingSafeEqual(given, keyHash)) ctx.throw(401);
  };
  const readJson = async (ctx: Context) => JSON.parse((await buffer(ctx.req)).toString('utf8'));

  const router = new Router();
  router.post('/preauthorization', async (ctx) => {
    authenticate(ctx);
    const body = await readJson(ctx);
    if (!Number.isSafeInteger(body.amount) || body.amount < 1 || !/^[A-Z]{3}$/.test(body.currency)) ctx.throw(400);
    const ids = { id: uuidv7(), delivery: uuidv7() };
    await transact(storeHold, ids);
    const { result } = await card.authorize({ ...OF_CARD, requestId: ids.id, amount: BigInt(body.amount) });
    if (result?.answer !== Answer.APPROVED) ctx.throw(502);
    await transact(settleHold, ids);
    ctx.status = 201;
    ctx.body = { preauthorizationId: ids.id, amountRemaining: body.amount };
  });
  router.post('/preauthorization/authorization', async (ctx) => {
    authenticate(ctx);
    const { preauthorizationId, amountToCapture } = await readJson(ctx);
    const ids = { id: preauthorizationId, capture: uuidv7(), operation: uuidv7() };
    await transact(storeCapture, ids);
    const { result } = await card.capture({
      ...OF_CARD,
      requestId: ids.capture,
      authorizationRequestId: ids.id,
      amount: BigInt(amountToCapture),
      finalCapture: true,
    });
    if (result?.answer !== Answer.APPROVED) ctx.throw(502);
    await transact(settleCapture, ids);
    ctx.body = { requestId: ids.capture, status: 'OK', amountCaptured: amountToCapture };
  });
  router.post('/webhook/processor/:kind/:statusInfo', async (ctx) => {
    const raw = await buffer(ctx.req);
    const { merchantId, requestId, status, amount, currency } = JSON.parse(raw.toString('utf8'));
    const signed = merchantId + requestId + status + amount + currency;
    const expected = createHmac('sha256', signingSecret).update(signed).digest();
    const given = Buffer.from(ctx.get('x-service-signature'), 'base64');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) ctx.throw(401);
    const { kind, statusInfo } = ctx.params;
    const values = [merchantId, requestId, kind, statusInfo, status, String(amount), currency, raw];
    await pool.query({ ...STORE_NOTIFICATION, values });
    ctx.body = { requestId };
  });
  const app = new Koa().use(router.routes());
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** What the tables' scripts write for every hold. */
const OF_CARD = { merchantId: 'bench', tokenId: 'tok_sandbox_ok', terminalId: 't1', userId: 'u1', currency: 'EUR' };

const STORE_NOTIFICATION = {
  name: 'notification',
  text: `insert into bench.notification (merchant_id, request_id, kind, status_info, status, amount, currency, body,
    received_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, now()) on conflict do nothing`,
};

if (isStarted(import.meta.url)) {
  const [order] = (await once(process, 'message')) as [Order];
  process.send?.(await serve(order));
  process.once('disconnect', () => process.exit(0));
}
