import type { Context, Middleware } from 'koa';
import { networkOf } from '../../platform/client-address.ts';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import { parseJsonBody, readCommandBytes } from '../http/json-body.ts';
import { createRouter, mountRoutes, type TableRoute } from '../http/route.ts';
import type { Limits } from '../limits/limits.ts';
import { demandRate } from '../limits/rate-limit.ts';
import { readInput } from '../resource/route.ts';
import { authenticateOperator, coreCallOf, type Operator } from './authenticate.ts';
import { DELIVERY_ROUTES } from './deliveries.ts';
import { HOLD_ROUTES } from './holds.ts';
import { MERCHANT_ROUTES } from './merchants.ts';
import { OPERATION_ROUTES } from './operations.ts';
import { OVERVIEW_ROUTES } from './overview.ts';
import { NOTIFICATION_ROUTES } from './relay.ts';
import { RELAY_SENDER_ROUTES } from './relay-senders.ts';
import { SESSION_ROUTES } from './session/session-routes.ts';
import { createSessions } from './session/sessions.ts';
import { createVerifyToken } from './session/verify-token.ts';
import { OPERATOR_ENDPOINT_ROUTES } from './webhook-endpoints.ts';

/**
 * The operators' routes by operationId. The first that matches a path answers: a fixed path stands before one with a
 * parameter.
 */
export const OPERATOR_ROUTES = {
  ...SESSION_ROUTES,
  ...OVERVIEW_ROUTES,
  ...OPERATION_ROUTES,
  ...HOLD_ROUTES,
  ...MERCHANT_ROUTES,
  ...OPERATOR_ENDPOINT_ROUTES,
  ...DELIVERY_ROUTES,
  ...NOTIFICATION_ROUTES,
  ...RELAY_SENDER_ROUTES,
} as const satisfies Record<string, TableRoute>;

export interface OperatorOptions extends StreamOptions {
  readonly limits: Limits;
  /** All gateways have the same one, so a session is valid at each of them. */
  readonly gatewayToken: string;
}

/** Sign-in requests of one address. */
const SIGN_INS = { name: 'operator-sign-ins', points: 100, durationSeconds: 1 } as const;

/**
 * Mounts the operators' routes (docs/operators.md, "What operators do"). Only signing in needs no credential; its rate
 * is limited by address. `requiresOperator` demands the operator token or a session, for routes elsewhere.
 */
export function createOperator({ limits, gatewayToken, ...options }: OperatorOptions) {
  const { core, credentials, log } = options;
  const verify = createVerifyToken(core, limits, log);
  const sessions = createSessions(gatewayToken, credentials);
  const requiresOperator = authenticateOperator(verify, sessions);
  const signIns = limits.limiter(SIGN_INS);
  const limitSignIns: Middleware = async (ctx, next) => {
    await demandRate(signIns, networkOf(ctx.ip));
    await next();
  };
  const guardsOf = ({ credential }: TableRoute) => [credential === 'none' ? limitSignIns : requiresOperator];
  const callOf = async (ctx: Context, { maxBodyBytes, ...route }: TableRoute) => {
    const input = await readInput(ctx, route, async (schema) =>
      parseJsonBody(await readCommandBytes(ctx, maxBodyBytes), schema),
    );
    const call = { ...options, ctx, sessions, verify, ...input };
    const operator: Operator | undefined = ctx.state.operator;
    if (operator === undefined) return call;
    // No merchantId has a slash.
    const account = `operator/${operator.name}`;
    const exporter = { account, isLive: () => !options.closing.aborted && operator.isLive() };
    return { ...call, operator, asOperator: coreCallOf(operator), exporter };
  };
  return { router: mountRoutes(createRouter(), OPERATOR_ROUTES, guardsOf, callOf), requiresOperator };
}
