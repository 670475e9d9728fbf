/** The relay: takes notifications from the internet, and passes each verified one to core once. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { Counter } from 'prom-client';
import { clientAddress, networkOf } from '../../platform/client-address.ts';
import { VerificationFailureReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Core } from '../core/client.ts';
import type { Credentials } from '../core/credentials.ts';
import { PROBLEM_TYPE, type ToProblem } from '../http/error-handler.ts';
import { type Exchange, type Exchanging, REQUEST_ID_HEADER } from '../http/exchange.ts';
import { demandJson } from '../http/json-body.ts';
import { Problem } from '../http/problem.ts';
import { originForm } from '../http/request-target.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import type { Limits } from '../limits/limits.ts';
import { demandRate } from '../limits/rate-limit.ts';
import { STATUS_INFO, UUID } from '../resource/identifiers.ts';
import { createBodyBudget } from './body-budget.ts';
import { describeRelayed } from './describe-relayed.ts';
import { explainOwn, explainSender, explainStandard } from './explain.ts';
import { createFailures, type FailureOptions } from './failures.ts';
import { createPenalties } from './penalties.ts';
import { relayNotification, relaySenderNotification } from './relay-notification.ts';
import { type Announced, openSenderStore, openStore } from './store-notification.ts';
import { verifyWithNewest } from './verify.ts';
import { verifySenderWithNewest } from './verify-sender.ts';

/** The parts that the relay shares with Koa's routes. */
export interface Surroundings {
  readonly exchanging: Exchanging;
  readonly toProblem: ToProblem;
  readonly trustedHops: number;
  readonly closing: AbortSignal;
}

export interface RelayOptions extends Surroundings, FailureOptions {
  readonly credentials: Pick<
    Credentials,
    'secretsOf' | 'secretIdsOf' | 'relayVerificationOf' | 'senderOf' | 'isFresh' | 'refresh'
  >;
  readonly relay: Core['relay'];
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
  const storeOfSender = openSenderStore(options.relay, log);
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
    const claimed = { fields, headers: request.headers, body };
    const verdict = await verifyWithNewest(credentials, claimed);
    if (verdict.reason !== undefined) {
      const { reason } = verdict;
      const signature = request.headers['x-service-signature']?.toString();
      const refusal = await penalties.fail(network, fields.merchantId);
      const { merchantId: claimedMerchantId } = fields;
      const evidence = { reason, announced, claimedMerchantId, address, body, signature, refusal };
      const isStandard = credentials.relayVerificationOf(claimedMerchantId) === 'standard-webhooks';
      const explain = isStandard ? explainStandard : explainOwn;
      failures.record({ ...evidence, explain: () => explain(claimed, ownKeys(credentials, claimedMerchantId)) });
      throw refusal;
    }
    exchange.merchantId = fields.merchantId;
    exchange.requestId = fields.requestId;
    await demandRate(verifiedLimiter, fields.merchantId);
    const stored = await store({ ...announced, ...fields, body, signature: verdict.signature });
    return { ...stored, type: 'application/json; charset=utf-8', body: { requestId: fields.requestId } };
  }

  /** The same for another sender, whose bytes need not be JSON. An unknown sender is refused as a wrong signature is. */
  async function takeOfSender(request: IncomingMessage, path: string, exchange: Exchange): Promise<Reply> {
    const address = clientAddress(request, options.trustedHops);
    const network = networkOf(address);
    await demandRate(addressLimiter, network);
    const senderId = readSenderPath(request.method, path, exchange);
    const body = await bodies.read(request, network);
    await penalties.check(network, senderId);
    if (!credentials.isFresh()) throw new Problem('UNAVAILABLE', { detail: 'Signatures cannot be checked now.' });
    const received = { headers: request.headers, body };
    const { sender, judged } = await verifySenderWithNewest(credentials, senderId, received);
    if (sender === undefined || judged.reason !== undefined) {
      const { reason = VerificationFailureReason.UNKNOWN_SENDER } = judged;
      const refusal = await penalties.fail(network, senderId, UNVERIFIED_SENDER);
      const announced = { kind: 'relay', statusInfo: senderId } as const;
      const claimedMerchantId = sender?.merchantId ?? '';
      const { signature } = judged;
      const explain = sender && (() => explainSender(sender, received, reason));
      failures.record({ reason, announced, claimedMerchantId, address, body, signature, refusal, explain });
      throw refusal;
    }
    const { merchantId } = sender;
    exchange.merchantId = merchantId;
    await demandRate(verifiedLimiter, merchantId);
    const described = describeRelayed(sender, received, judged.identifier);
    const { requestId, ...stored } = await storeOfSender({ merchantId, senderId, body, ...described });
    exchange.requestId = requestId;
    return { ...stored, type: 'application/json; charset=utf-8', body: { requestId } };
  }

  /** Answers everything below the two prefixes, and calls `next` for the rest. Koa's first middleware. */
  const middleware: Middleware = (ctx, next) => {
    const { req: request, res: response } = ctx;
    const [path = ''] = originForm(request.url ?? '')?.split('?', 1) ?? [];
    const isOfSender = path.startsWith(SENDERS);
    if (!isOfSender && !path.startsWith(PREFIX)) return next();
    ctx.respond = false;
    return options.exchanging(request, response, async (exchange) => {
      const taking = isOfSender ? takeOfSender(request, path, exchange) : take(request, path, exchange);
      const reply = await taking.catch((error: unknown): Reply => {
        const problem = toProblem(error, { method: request.method ?? '', path }, exchange);
        return { status: problem.status, headers: problem.headers(), type: PROBLEM_TYPE, body: problem };
      });
      requests.inc({ kind: isOfSender ? 'relay' : (KIND.exec(path)?.[1] ?? 'none'), status: reply.status });
      if (options.closing.aborted) response.shouldKeepAlive = false;
      send(response, exchange, reply);
    });
  };
  /** `close` reports the last failures to core. */
  return { middleware, close: failures.close };
}

/** The merchant's live secrets with their names. */
function ownKeys(credentials: Pick<Credentials, 'secretsOf' | 'secretIdsOf'>, merchantId: string) {
  const ids = credentials.secretIdsOf(merchantId);
  return (credentials.secretsOf(merchantId) ?? []).map((key, index) => ({ id: ids[index] ?? '', key }));
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
const SENDERS = relaySenderNotification.path.slice(0, relaySenderNotification.path.indexOf('{'));
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

/** The senderId in a path, as it was sent. Throws METHOD_NOT_ALLOWED, and NOT_FOUND for what is no senderId. */
function readSenderPath(method: string | undefined, path: string, exchange: Exchange): string {
  const senderId = path.slice(SENDERS.length);
  if (!UUID.test(senderId)) throw new Problem('NOT_FOUND');
  exchange.routeOf = () => `${SENDERS}:senderId`;
  if (method !== METHOD) throw new Problem('METHOD_NOT_ALLOWED', { headers: { Allow: METHOD } });
  return senderId;
}

const UNVERIFIED_SENDER = {
  detail: 'The request does not prove that the sender sent this notification.',
  headers: { 'WWW-Authenticate': 'Relay-Sender' },
};

/** NOT_FOUND; for a path of the route's shape it says what its two parts may be. */
function unknownPath(path: string): Problem {
  const isShaped = /^[^/]+\/[^/]+$/.test(path.slice(PREFIX.length));
  return new Problem('NOT_FOUND', isShaped ? { detail: PARTS } : {});
}

const PARTS =
  `In ${template}, kind is ${parameters.kind.options.join(' or ')}; statusInfo is a letter, then at most 31 letters, ` +
  'digits, _ or -. The routes are listed at /docs.';
