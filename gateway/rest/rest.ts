import type Router from '@koa/router';
import type { Context } from 'koa';
import type { z } from 'zod';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import { parseJsonBody, readCommandBytes, readJsonBytes } from '../http/json-body.ts';
import { Problem } from '../http/problem.ts';
import { createRouter, mountRoutes, type TableRoute } from '../http/route.ts';
import type { Limiter } from '../limits/limits.ts';
import { limitRate } from '../limits/rate-limit.ts';
import { readInput } from '../resource/route.ts';
import { authenticate, identityOf } from './authenticate.ts';
import type { InFlightLimits } from './limit-in-flight.ts';
import { NOTIFICATION_ROUTES } from './notifications.ts';
import { OPERATION_ROUTES } from './operations.ts';
import { capturePreauthorization } from './preauthorization/capture-preauthorization.ts';
import { CHANGE_ROUTES } from './preauthorization/change-preauthorization.ts';
import { HOLD_ROUTES } from './preauthorization/preauthorizations.ts';
import { RELAY_FAILURE_ROUTES } from './relay-failures.ts';
import { RELAY_SENDER_ROUTES } from './relay-senders.ts';
import { RELAYED_NOTIFICATION_ROUTES } from './relayed-notifications.ts';
import { NoFields, type RestCall } from './route.ts';
import { WEBHOOK_ROUTES } from './webhook.ts';
import { WEBHOOK_ENDPOINT_ROUTES } from './webhook-endpoints.ts';

/**
 * The merchants' routes by operationId. The first that matches a path answers: a fixed path stands before one with a
 * parameter.
 */
export const REST_ROUTES = {
  ...HOLD_ROUTES,
  capturePreauthorization,
  ...CHANGE_ROUTES,
  ...OPERATION_ROUTES,
  ...WEBHOOK_ROUTES,
  ...WEBHOOK_ENDPOINT_ROUTES,
  ...NOTIFICATION_ROUTES,
  ...RELAY_SENDER_ROUTES,
  ...RELAY_FAILURE_ROUTES,
  ...RELAYED_NOTIFICATION_ROUTES,
} as const satisfies Record<string, TableRoute>;

export interface RestOptions extends StreamOptions {
  readonly limiter: Limiter;
  readonly inFlight: InFlightLimits;
}

/**
 * Mounts the merchants' routes (docs/interfaces.md, "REST"). Each request is checked for its API key, its rate, its
 * merchant's share and its input, in this order.
 */
export function createRest({ limiter, ...options }: RestOptions): Router {
  const router = createRouter();
  router.use(
    authenticate(options.credentials),
    limitRate(limiter, (ctx) => identityOf(ctx).apiKeyHash),
  );
  // Streams have a limit of their own.
  const guardsOf = (route: TableRoute) => (route.answers[200]?.event ? [] : [options.inFlight.limitMerchant(route)]);
  const callOf = async (ctx: Context, route: TableRoute) => {
    const { merchantId, apiKeyHash, isLive } = identityOf(ctx);
    const asKey = { metadata: { 'x-api-key-sha256': apiKeyHash } };
    const mayExport = () => !options.closing.aborted && options.credentials.isFresh() && isLive();
    const call = { ...options, ctx, merchantId, asKey, exporter: { account: merchantId, isLive: mayExport } };
    const input = await readInput(ctx, route, (schema) => readBody(call, route, schema));
    if (input.params.requestId !== undefined) ctx.state.requestId = input.params.requestId;
    return { ...call, ...input };
  };
  return mountRoutes(router, REST_ROUTES, guardsOf, callOf);
}

/**
 * Reads a merchant's body. Throws what readJsonBytes(), the route's checkBytes() and parseJsonBody() throw, and
 * FORBIDDEN when the body names another merchant than the API key.
 */
async function readBody(call: RestCall, { checkBytes }: TableRoute, schema: z.ZodType): Promise<unknown> {
  const bytes = await (schema === NoFields ? readCommandBytes(call.ctx) : readJsonBytes(call.ctx));
  await checkBytes?.(call as never, bytes);
  const body = parseJsonBody(bytes, schema as z.ZodType<{ merchantId?: string }>);
  if (body.merchantId !== undefined && body.merchantId !== call.merchantId) {
    throw new Problem('FORBIDDEN', { detail: 'merchantId is not the merchant that the API key names.' });
  }
  return body;
}
