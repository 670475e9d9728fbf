/** The relay: takes notifications from the internet, and passes each verified one to core once. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { Counter } from 'prom-client';
import { clientAddress, networkOf } from '../../platform/client-address.ts';
import type { Credentials } from '../core/credentials.ts';
import { PROBLEM_TYPE, type ToProblem } from '../http/error-handler.ts';
import { type Exchange, type Exchanging, REQUEST_ID_HEADER } from '../http/exchange.ts';
import { demandJson } from '../http/json-body.ts';
import { Problem } from '../http/problem.ts';
import { originForm } from '../http/request-target.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import type { Limits } from '../limits/limits.ts';
import { demandRate } from '../limits/rate-limit.ts';
import { STATUS_INFO } from '../resource/identifiers.ts';
import { createBodyBudget } from './body-budget.ts';
import { createFailures, type FailureOptions } from './failures.ts';
import { createPenalties } from './penalties.ts';
import { relayNotification } from './relay-notification.ts';
import { type Announced, openStore } from './store-notification.ts';
import { verifyWithNewest } from './verify.ts';

/** The parts that the relay shares with Koa's routes. */
export interface Surroundings {
  readonly exchanging: Exchanging;
  readonly toProblem: ToProblem;
  readonly trustedHops: number;
  readonly closing: AbortSignal;
}

export interface RelayOptions extends Surroundings, FailureOptions {
  readonly credentials: Pick<Credentials, 'secretsOf' | 'isFresh' | 'refresh'>;
  readonly limits: Limits;
  /** Verified notifications of one merchant, per second. */
  readonly verifiedPerSecond: number;
  /** Requests of one address, and KiB of its larger bodies, per second. */
  readonly addressPerSecond: number;
  /** For the whole body, milliseconds. */
  readonly bodyTimeoutMs?: number;
}

export type Relay = ReturnType<typeof createRelay>;

const MAX_BODY_BYTES = 64 * 1024;
const BODY_TIMEOUT_MS = 5_000;

/**
 * Opens the relay (docs/relay.md, "Guards"). Every request below its prefix counts against the sender's address first,
 * including unknown paths and wrong methods. It therefore stands before the router and all middleware, and writes its
 * answers itself: Koa's accessors, and a promise for each middleware, were a fifth of the cost of a notification
 * (docs/performance.md).
 */
export function createRelay(options: RelayOptions) {
  const { credentials, limits, log, toProblem } = options;
  const perSecond = (name: string, points: number) => limits.limiter({ name, points, durationSeconds: 1 });
  const addressLimiter = perSecond('relay-address', options.addressPerSecond);
  const verifiedLimiter = perSecond('relay-verified', options.verifiedPerSecond);
  const bounds = { maxBytes: MAX_BODY_BYTES, timeoutMs: options.bodyTimeoutMs ?? BODY_TIMEOUT_MS };
  const bodies = createBodyBudget(limits, options.addressPerSecond, bounds);
  const penalties = createPenalties(limits, log);
  const failures = createFailures(options);
  const store = openStore(options.notifications, log);
  const requests = new Counter({
    name: 'holdfast_relay_requests_total',
    help: 'Requests to the webhook relay, by kind and HTTP status of the answer.',
    labelNames: ['kind', 'status'],
    registers: [options.registry],
  });

  /** Reads, verifies and stores a notification. The checks stand in the order in which a request passes them. */
  async function take(request: IncomingMessage, path: string, exchange: Exchange): Promise<Reply> {
    const address = clientAddress(request, options.trustedHops);
    const network = networkOf(address);
    await demandRate(addressLimiter, network);
    const announced = readPath(request.method, path, exchange);
    demandJson(request.headers);
    const body = await bodies.read(request, network);
    const fields = await bodies.parse(body, network);
    await penalties.check(network, fields.merchantId);
    if (!credentials.isFresh()) throw new Problem('UNAVAILABLE', { detail: 'Signatures cannot be checked now.' });
    const signature = request.headers['x-service-signature']?.toString();
    const reason = await verifyWithNewest(credentials, fields, signature);
    if (reason !== undefined) {
      const refusal = await penalties.fail(network, fields.merchantId);
      failures.record({ reason, announced, fields, address, body, signature, refusal });
      throw refusal;
    }
    exchange.merchantId = fields.merchantId;
    exchange.requestId = fields.requestId;
    await demandRate(verifiedLimiter, fields.merchantId);
    const stored = await store({ ...announced, ...fields, body, signature: signature as string });
    return { ...stored, type: 'application/json; charset=utf-8', body: { requestId: fields.requestId } };
  }

  /** Answers everything below /webhook/processor/ and calls `next` for the rest. Koa's first middleware. */
  const middleware: Middleware = (ctx, next) => {
    const { req: request, res: response } = ctx;
    const [path = ''] = originForm(request.url ?? '')?.split('?', 1) ?? [];
    if (!path.startsWith(PREFIX)) return next();
    ctx.respond = false;
    return options.exchanging(request, response, async (exchange) => {
      const reply = await take(request, path, exchange).catch((error: unknown): Reply => {
        const problem = toProblem(error, { method: request.method ?? '', path }, exchange);
        return { status: problem.status, headers: problem.headers(), type: PROBLEM_TYPE, body: problem };
      });
      requests.inc({ kind: KIND.exec(path)?.[1] ?? 'none', status: reply.status });
      if (options.closing.aborted) response.shouldKeepAlive = false;
      send(response, exchange, reply);
    });
  };
  /** `close` reports the last failures to core. */
  return { middleware, close: failures.close };
}

/** An answer; the body is sent as JSON. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  readonly body: object;
}

/** Sends an answer in one write. A client that has disconnected needs none. */
function send(response: ServerResponse, exchange: Exchange, { status, headers, type, body }: Reply): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    [REQUEST_ID_HEADER]: exchange.httpRequestId,
    ...headers,
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

const { path: template, method, parameters } = relayNotification;
const METHOD = method.toUpperCase();

const PREFIX = template.slice(0, template.indexOf('{'));
const KIND = new RegExp(`^${PREFIX}(${parameters.kind.options.join('|')})/`);

/**
 * Matches method and path with the route's description, as they were sent: a router would decode `%61` to `a`, and the
 * next reader may not. Throws METHOD_NOT_ALLOWED, and NOT_FOUND for an unknown path or a malformed statusInfo.
 */
function readPath(method: string | undefined, path: string, exchange: Exchange): Announced {
  const [start, kind] = KIND.exec(path) ?? [];
  const statusInfo = path.slice(start?.length);
  if (kind === undefined || statusInfo.includes('/')) throw unknownPath(path);
  exchange.routeOf = () => `${PREFIX}${kind}/:statusInfo`;
  if (method !== METHOD) throw new Problem('METHOD_NOT_ALLOWED', { headers: { Allow: METHOD } });
  if (!STATUS_INFO.test(statusInfo)) throw unknownPath(path);
  return { kind: kind as Announced['kind'], statusInfo };
}

/** NOT_FOUND; for a path of the route's shape it says what its two parts may be. */
function unknownPath(path: string): Problem {
  const isShaped = /^[^/]+\/[^/]+$/.test(path.slice(PREFIX.length));
  return new Problem('NOT_FOUND', isShaped ? { detail: PARTS } : {});
}

const PARTS =
  `In ${template}, kind is ${parameters.kind.options.join(' or ')}; statusInfo is a letter, then at most 31 letters, ` +
  'digits, _ or -. The routes are listed at /docs.';
