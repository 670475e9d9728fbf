/** A stateful fake of Stripe that does and rejects what Stripe's documentation says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Account, openAccount } from './account.ts';
import { FakeError } from './fake-error.ts';
import { type Fault, type PlannedFault, takeFault } from './faults.ts';
import { decodeForm, type Form, textOf } from './form.ts';
import { keyInUse, openKeys, type Reply } from './keys.ts';
import { leaveRefund } from './refunds.ts';
import { route } from './routes.ts';

export const API_KEY = 'sk_test_fake000000000000';
/** A key without permissions. */
export const RESTRICTED_KEY = 'rk_test_fake000000000000';

/** A running fake. */
export interface FakeStripe {
  readonly origin: string;
  /** The API key's own account, and connected ones: `acct_shop`, and `acct_plain`, which has no features. */
  account(id?: string): Account;
  /** Faults planned for coming requests. */
  readonly faults: PlannedFault[];
  /** Each received request: `POST /v1/payment_intents/…/confirm`, its account and its idempotency key. */
  readonly requests: {
    request: string;
    path: string;
    account: string;
    key: string;
    /** The version of the API that it asks for. */
    version: string;
    form: Form;
    at: number;
  }[];
  /** Its time in seconds. */
  now(): number;
  /** Advances its time; expired authorizations and pages then end. */
  advance(seconds: number): void;
  /** Resolves when no request is at work whose connection was closed. */
  idle(): Promise<unknown>;
  fail(on: string, fault: Fault, times?: number, key?: string): void;
  close(): Promise<void>;
}

/**
 * Starts it on a free port of this machine; `hasFeatures`: the key's own account has the card features of IC+ pricing.
 */
export async function startFakeStripe({ hasFeatures = true } = {}): Promise<FakeStripe> {
  let skewS = 0;
  const now = () => Math.floor(Date.now() / 1000) + skewS;
  const accounts = new Map(
    [openAccount('', now, hasFeatures), openAccount('acct_shop', now, true), openAccount('acct_plain', now, false)].map(
      (account) => [account.id, { account, keys: openKeys(now) }] as const,
    ),
  );
  const faults: PlannedFault[] = [];
  const requests: FakeStripe['requests'] = [];
  const late = new Set<Promise<void>>();
  /** The objects that a request works on. */
  const atWork = new Set<string | undefined>();
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', url = '' } = request;
    const address = new URL(url, origin);
    const name = `${method} ${address.pathname.replace(/\/(pi|cs|re|du|pm|ch|txn)_\w+/, '/…')}`;
    const key = String(request.headers['idempotency-key'] ?? '');
    const accountId = String(request.headers['stripe-account'] ?? '');
    const form = decodeForm(method === 'GET' ? address.search.slice(1) : text);
    const version = String(request.headers['stripe-version'] ?? '');
    const path = `${method} ${address.pathname}`;
    requests.push({ request: name, path, account: accountId, key, version, form, at: now() });
    const fault = takeFault(faults, name, key);
    if (fault === 'cut before') return void request.socket.destroy();
    if (fault === 'hang before') return;
    const isReplay = { is: false };
    const call = { request, accountId, key, asked: `${method} ${url} ${text}`, form, fault, isReplay };
    if (fault === 'acts later') {
      request.socket.destroy();
      const acting = actLater(call).finally(() => late.delete(acting));
      return void late.add(acting);
    }
    const reply = answer(call);
    if (fault === 'cut after') return void request.socket.destroy();
    if (fault === 'hang after') return;
    const isProxy = fault === 'bad gateway before' || fault === 'bad gateway after';
    response.writeHead(isProxy ? 502 : reply.status, {
      'content-type': isProxy ? 'text/html' : 'application/json',
      'request-id': 'req_fake',
      ...(isReplay.is && { 'idempotent-replayed': 'true' }),
    });
    const body = isProxy ? '<html>Bad Gateway</html>' : JSON.stringify(reply.body);
    if (fault !== 'cut in answer') return void response.end(body);
    response.write(body.slice(0, body.length / 2), () => request.socket.destroy());
  }

  /** Keeps the key and the object in use, and acts when that time is over. */
  async function actLater(call: Call): Promise<void> {
    const keys = accounts.get(call.accountId)?.keys;
    const object = objectOf(call.request, call.form);
    if (call.key !== '' && keys?.begin(call.key, call.asked)) return;
    atWork.add(object);
    await delay(AT_WORK_MS);
    atWork.delete(object);
    if (call.key !== '') keys?.end(call.key, undefined);
    answer({ ...call, fault: undefined });
  }

  interface Call {
    request: IncomingMessage;
    accountId: string;
    key: string;
    asked: string;
    form: Form;
    fault: Fault | undefined;
    isReplay: { is: boolean };
  }

  function answer({ request, accountId, key, asked, form, fault, isReplay }: Call): Reply {
    let isBegun = false;
    try {
      checkKey(request, accountId, fault);
      const { account, keys } = accounts.get(accountId) as NonNullable<ReturnType<typeof accounts.get>>;
      if (fault === 'rate limit')
        throw new FakeError(429, { type: 'rate_limit_error' as 'api_error', code: 'rate_limit' });
      if (fault === 'key in use') throw keyInUse();
      if (fault === 'bad gateway before') return { status: 502, body: {} };
      if (fault === 'JSON of a gateway') return { status: 503, body: { message: 'Service Unavailable' } };
      if (fault === 'JSON of a proxy') return { status: 200, body: { status: 'ok' } };
      const isLocked = request.method === 'POST' && atWork.has(objectOf(request, form));
      const isSameKey = isLocked && keys.has(key);
      if (fault === 'lock timeout' || (isLocked && !isSameKey)) {
        throw new FakeError(429, { type: 'invalid_request_error', code: 'lock_timeout' });
      }
      const kept = key === '' ? undefined : keys.begin(key, asked);
      if (kept) {
        isReplay.is = true;
        return kept;
      }
      isBegun = true;
      const reply = act(account, request, form, fault);
      if (key !== '') keys.end(key, reply.isKept ? reply : undefined);
      return reply;
    } catch (error) {
      if (!(error instanceof FakeError)) throw error;
      if (isBegun && key !== '') accounts.get(accountId)?.keys.end(key, undefined);
      return errorReply(error);
    }
  }

  function act(
    account: Account,
    request: IncomingMessage,
    form: Form,
    fault: Fault | undefined,
  ): Reply & { isKept: boolean } {
    const broken = {
      ...errorReply(new FakeError(500, { type: 'api_error', message: 'An unknown error occurred' })),
      isKept: true,
    };
    if (fault === 'error before') return broken;
    try {
      const { pathname } = new URL(request.url ?? '', origin);
      const body = route(account, request.method ?? '', pathname, form, origin);
      const isOld = String(request.headers['stripe-version'] ?? '') < '2025-03-31';
      if (isOld && pathname.endsWith('/capture')) leaveRefund(account, (body as { id: string }).id);
      // The answer reflects the current state, even if it changes before it is sent.
      return fault === 'error after' ? broken : { status: 200, body: structuredClone(body), isKept: true };
    } catch (error) {
      if (error instanceof FakeError) return { ...errorReply(error), isKept: error.isKept };
      throw error;
    }
  }

  function checkKey(request: IncomingMessage, accountId: string, fault: Fault | undefined): void {
    const shown = fault === 'key rejected' ? 'Bearer sk_test_of_yesterday' : request.headers.authorization;
    if (shown === `Bearer ${RESTRICTED_KEY}` || fault === 'no permission') {
      throw new FakeError(403, {
        type: 'invalid_request_error',
        message: 'The provided key does not have the permissions.',
      });
    }
    if (shown !== `Bearer ${API_KEY}`) {
      throw new FakeError(401, {
        type: 'invalid_request_error',
        message: `Invalid API Key provided: ${shown?.slice(7)}`,
      });
    }
    if (!accounts.has(accountId)) {
      const message = `The provided key does not have access to account '${accountId}'`;
      throw new FakeError(403, { type: 'invalid_request_error', code: 'account_invalid', message });
    }
  }

  return {
    origin,
    account: (id = '') => accounts.get(id)?.account ?? openAccount(id, now, true),
    faults,
    requests,
    now,
    advance(seconds) {
      skewS += seconds;
      for (const { account } of accounts.values()) expireAll(account);
    },
    idle: () => Promise.all(late),
    fail: (on, fault, times = 1, key = undefined) => void faults.push({ on, fault, times, key }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** How long a request goes on whose connection was closed. */
const AT_WORK_MS = 100;

function objectOf({ url = '' }: IncomingMessage, form: Form): string | undefined {
  return /(?:pi|cs)_\w+/.exec(url)?.[0] ?? textOf(form, 'payment_intent');
}

function errorReply({ status, body }: FakeError): Reply {
  return { status, body: { error: { message: 'error', ...body } } };
}

function expireAll(account: Account): void {
  for (const id of account.intents.keys()) route(account, 'EXPIRE', `/v1/payment_intents/${id}`, {}, '');
  for (const id of account.sessions.keys()) route(account, 'EXPIRE', `/v1/checkout/sessions/${id}`, {}, '');
}
