/** The relay: takes notifications from the internet and lets only verified ones, once each, through to core. */
import type { Context, Middleware } from 'koa';
import type { Registry } from 'prom-client';
import type { NotificationService } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { GrpcClient } from '../../proto/grpc.ts';
import type { Log } from '../../proto/log.ts';
import type { SignedFields } from '../../proto/signature.ts';
import type { Credentials } from '../credentials.ts';
import { demandJson } from '../demand-json.ts';
import { demandRate } from '../demand-rate.ts';
import type { Limits } from '../limits.ts';
import { networkOf, readAddress } from '../network.ts';
import { Problem } from '../problem.ts';
import { openAccept } from './accept-notifications.ts';
import { readAnnounced } from './announced.ts';
import { createBodyBudget } from './body-budget.ts';
import { countOutcomes } from './count-outcomes.ts';
import { createFailures } from './failures.ts';
import { parseNotification } from './notification.ts';
import { createPenalties } from './penalties.ts';
import { storeNotification } from './store-notification.ts';
import { verifyWithNewest } from './verify.ts';

/** What the relay is made of. */
export interface RelayOptions {
  readonly notifications: Pick<
    GrpcClient<typeof NotificationService>,
    'acceptNotification' | 'batchAcceptNotifications' | 'quarantineNotification' | 'reportVerificationFailures'
  >;
  readonly credentials: Pick<Credentials, 'secretsOf' | 'isFresh' | 'refresh'>;
  readonly limits: Limits;
  readonly log: Log;
  readonly registry: Registry;
  /** Verified notifications of one merchant, per second. */
  readonly verifiedPerSecond: number;
  /** Requests of one address, and KiB of its larger bodies, per second. */
  readonly addressPerSecond: number;
  /** For the whole body, milliseconds. */
  readonly bodyTimeoutMs?: number;
  /** Between two reports of failures to core, milliseconds. */
  readonly reportEveryMs?: number;
}

/** The relay in service. */
export interface Relay {
  /** Answers everything below /webhook/processor/ and hands on the rest. Refusals are thrown as Problem or BodyRefusal. */
  readonly middleware: Middleware;
  /** Tells core the last failures. */
  close(): Promise<void>;
}

const PREFIX = '/webhook/processor/';
const MAX_BODY_BYTES = 64 * 1024;
const BODY_TIMEOUT_MS = 5_000;

/** Builds the relay (docs/product.md, "Relay"). A request meets its guards in the order in which they stand here. */
export function createRelay(options: RelayOptions): Relay {
  const { credentials, limits, notifications, log } = options;
  const perSecond = (name: string, points: number) => limits.limiter({ name, points, durationSeconds: 1 });
  const addressBucket = perSecond('relay-address', options.addressPerSecond);
  const verifiedBucket = perSecond('relay-verified', options.verifiedPerSecond);
  const bounds = { maxBytes: MAX_BODY_BYTES, timeoutMs: options.bodyTimeoutMs ?? BODY_TIMEOUT_MS };
  const bodies = createBodyBudget(limits, options.addressPerSecond, bounds);
  const penalties = createPenalties(limits, log);
  const failures = createFailures(options);
  const accept = openAccept(notifications);

  async function relay(ctx: Context): Promise<void> {
    const network = networkOf(ctx.ip);
    await demandRate(addressBucket, network);
    const announced = readAnnounced(ctx);
    demandJson(ctx);
    const body = await bodies.read(ctx, network);
    const fields = await parse(body, network);
    await penalties.check(network, fields.merchantId);
    if (!credentials.isFresh()) throw new Problem('UNAVAILABLE', { detail: 'Signatures cannot be checked now.' });
    const headers = ctx.req.headersDistinct['x-service-signature'] ?? [];
    const failure = await verifyWithNewest(credentials, fields, headers);
    if (failure !== undefined) {
      const refusal = await penalties.fail(network, fields.merchantId);
      failures.record({
        reason: failure,
        announced,
        fields,
        address: readAddress(ctx.ip) ?? 'unknown',
        body,
        headers,
        refusal,
      });
      throw refusal;
    }
    ctx.state.merchantId = fields.merchantId;
    ctx.state.requestId = fields.requestId;
    await demandRate(verifiedBucket, fields.merchantId);
    await storeNotification(
      ctx,
      { accept, notifications, log },
      { ...announced, ...fields, body, signature: headers[0] as string },
    );
  }

  async function parse(body: Buffer, network: string): Promise<SignedFields> {
    try {
      return parseNotification(body);
    } catch (error) {
      await bodies.chargeMalformed(network);
      throw error;
    }
  }

  const counted = countOutcomes(options.registry, relay);
  return {
    middleware: async (ctx, next) => (ctx.path.startsWith(PREFIX) ? counted(ctx) : next()),
    close: failures.close,
  };
}
