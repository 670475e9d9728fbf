/**
 * The healthy merchant, in a process of its own so that the attackers' work does not distort its times: reads a hold at
 * a steady pace, pays out now and then, and waits for each notification at its own endpoint. Its parent controls it by
 * messages.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import type { Merchant } from './attack.ts';

/** From the parent: the merchant, and when to measure. */
type Order =
  | { readonly kind: 'play'; readonly baseUrl: string; readonly apiKey: string }
  | { readonly kind: 'measure' }
  | { readonly kind: 'report' };

/** To the parent: the endpoint's port, that it is active, the measurements. */
type Told =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'playing' }
  | ({ readonly kind: 'measured' } & Measured);

export interface Measured {
  readonly readsMs: readonly number[];
  /** From the answer to an OCT to its notification. */
  readonly notifiedMs: readonly number[];
  /** Failed calls by error, and notifications that did not arrive. */
  readonly failed: Readonly<Record<string, number>>;
}

export type HealthyMerchant = Awaited<ReturnType<typeof openHealthyMerchant>>;

/**
 * Starts the healthy merchant's process. It becomes active once its merchant exists, whose webhook URL is the process's
 * own.
 */
export async function openHealthyMerchant(baseUrl: string, create: (webhookUrl: string) => Promise<Merchant>) {
  const child = fork(fileURLToPath(import.meta.url), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const told = async <K extends Told['kind']>(kind: K): Promise<Extract<Told, { kind: K }>> => {
    for (;;) {
      const [message] = (await once(child, 'message')) as [Told];
      if (message.kind === kind) return message as Extract<Told, { kind: K }>;
    }
  };
  const order = (message: Order) => void child.send(message);
  const { port } = await told('listening');
  const merchant = await create(`http://127.0.0.1:${port}`);
  order({ kind: 'play', baseUrl, apiKey: merchant.apiKey });
  await told('playing');
  return {
    merchant,
    /** Measures during an attack. */
    async during<T>(act: () => Promise<T>): Promise<{ result: T; measured: Measured }> {
      order({ kind: 'measure' });
      const result = await act();
      order({ kind: 'report' });
      return { result, measured: await told('measured') };
    },
    async close(): Promise<void> {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

const READ_EVERY_MS = 20;
const PAY_EVERY_MS = 250;
const TIMEOUT_MS = 10_000;
const NOTIFIED_WITHIN_MS = 15_000;
const ORDER = { tokenId: 'tok_sandbox_ok', amount: 1000, currency: 'EUR', terminalId: 'till-1', userId: 'ann' };

const agent = new Agent({ connections: 50 });
/** When each operation's notification or answer arrived, whichever was first. */
const arrivedAtMs = new Map<string, number>();
let readsMs: number[] = [];
let notified: Promise<number | undefined>[] = [];
let failed: Record<string, number> = {};
let running: Promise<unknown>[] = [];

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createServer(async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
    arrivedAtMs.set((JSON.parse(text) as { requestId: string }).requestId, performance.now());
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port });

  process.on('disconnect', () => process.exit(0));
  process.on('message', async (order: Order) => {
    if (order.kind === 'play') {
      await play(order.baseUrl, order.apiKey);
      tell({ kind: 'playing' });
    } else if (order.kind === 'measure') {
      [readsMs, notified, failed, running] = [[], [], {}, []];
    } else {
      await Promise.all(running);
      const lags = await Promise.all(notified);
      for (const lag of lags) if (lag === undefined) fail('not notified');
      tell({ kind: 'measured', readsMs, notifiedMs: lags.filter((lag) => lag !== undefined), failed });
    }
  });
}

async function play(baseUrl: string, apiKey: string): Promise<void> {
  const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const answer = await request(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      dispatcher: agent,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const parsed = (await answer.body.json()) as { requestId: string };
    if (answer.statusCode >= 300) throw new Error(`${method} ${answer.statusCode}`);
    return parsed;
  };
  const { requestId } = await call('POST', '/preauthorization', ORDER);
  const read = async () => {
    const startedMs = performance.now();
    await call('GET', `/preauthorization/${requestId}`);
    readsMs.push(performance.now() - startedMs);
  };
  const pay = async () => {
    const paid = await call('POST', '/oct', ORDER);
    notified.push(arrival(paid.requestId, performance.now()));
  };
  const attempt = (act: () => Promise<void>) => () => {
    running.push(
      act().catch((error: Error) => fail(/^(GET|POST) \d/.test(error.message) ? error.message : error.name)),
    );
  };
  setInterval(attempt(read), READ_EVERY_MS);
  setInterval(attempt(pay), PAY_EVERY_MS);
}

/** Milliseconds until an operation's notification arrived; undefined when it did not. */
async function arrival(requestId: string, answeredMs: number): Promise<number | undefined> {
  while (performance.now() - answeredMs < NOTIFIED_WITHIN_MS) {
    const atMs = arrivedAtMs.get(requestId);
    if (atMs !== undefined) {
      arrivedAtMs.delete(requestId);
      return Math.max(0, atMs - answeredMs);
    }
    await delay(5);
  }
  return undefined;
}

function fail(what: string): void {
  failed[what] = (failed[what] ?? 0) + 1;
}

function tell(told: Told): void {
  process.send?.(told);
}
