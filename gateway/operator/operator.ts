import type { Context, Middleware } from 'koa';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import { networkOf } from '../http/client-address.ts';
import { parseJsonBody, readCommandBytes } from '../http/json-body.ts';
import { createRouter, mountRoutes } from '../http/route.ts';
import type { Limits } from '../limits/limits.ts';
import { demandRate } from '../limits/rate-limit.ts';
import { byPath, readInput, type TableRoute } from '../resource/route.ts';
import { authenticateOperator, coreCallOf, type Operator } from './authenticate.ts';
import * as deliveries from './deliveries.ts';
import * as holds from './holds.ts';
import * as merchants from './merchants.ts';
import * as operations from './operations.ts';
import * as overview from './overview.ts';
import * as relay from './relay.ts';
import * as session from './session/session-routes.ts';
import { createSessions } from './session/sessions.ts';
import { createVerifyToken } from './session/verify-token.ts';

/** The operators' routes by operationId: all that these files export. */
export const OPERATOR_ROUTES = byPath({
  ...session,
  ...overview,
  ...operations,
  ...holds,
  ...merchants,
  ...deliveries,
  ...relay,
} satisfies Record<string, TableRoute>);

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
