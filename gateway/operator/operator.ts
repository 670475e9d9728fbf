import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Limits } from '../limits.ts';
import type { WatchOptions } from '../rest/watch-operations.ts';
import { createRouter, type Route, routerPath } from '../route.ts';
import { authenticateOperator } from './authenticate.ts';
import { createFailedLogins } from './failed-logins.ts';
import { holdHandlers } from './holds.ts';
import { merchantHandlers } from './merchants.ts';
import { notificationHandlers } from './notifications.ts';
import { overviewHandlers } from './overview.ts';
import { HOLD_ROUTES } from './routes/hold.ts';
import { MERCHANT_ROUTES } from './routes/merchant.ts';
import { NOTIFICATION_ROUTES } from './routes/notification.ts';
import { OVERVIEW_ROUTES } from './routes/overview.ts';
import { SESSION_ROUTES } from './routes/session.ts';
import { sessionHandlers } from './session/handlers.ts';
import { createSessions } from './session/sessions.ts';
import { createVerifyToken } from './verify-token.ts';

/** What the routes are made of. */
export interface OperatorOptions extends WatchOptions {
  readonly limits: Limits;
  /** Every gateway has the same, so a session that one started is good at all. */
  readonly gatewayToken: string;
}

/** The operators' routes, in the order in which a path is looked for: a fixed one stands before one with a parameter. */
export const OPERATOR_ROUTES = {
  ...SESSION_ROUTES,
  ...OVERVIEW_ROUTES,
  ...HOLD_ROUTES,
  ...MERCHANT_ROUTES,
  ...NOTIFICATION_ROUTES,
};

/** What operators reach. */
export interface OperatorDoor {
  readonly router: Router;
  /** Demands the operator token, or a session, of any other route. */
  readonly requiresOperator: Middleware;
}

/** Mounts the operators' routes (docs/product.md, "Operators"). Signing in is the only one that asks for no credential. */
export function createOperator(options: OperatorOptions): OperatorDoor {
  const { core, credentials, limits, log } = options;
  const verify = createVerifyToken(core, createFailedLogins(limits, log));
  const sessions = createSessions(options.gatewayToken, credentials);
  const requiresOperator = authenticateOperator(verify, sessions);
  const handlers: Record<keyof typeof OPERATOR_ROUTES, Middleware> = {
    ...sessionHandlers(options, verify, sessions, limits),
    ...overviewHandlers(options),
    ...holdHandlers(core),
    ...merchantHandlers(core),
    ...notificationHandlers(core),
  };
  const router = createRouter();
  for (const [name, route] of Object.entries<Route>(OPERATOR_ROUTES)) {
    const handler = handlers[name as keyof typeof OPERATOR_ROUTES];
    const demands = route.credential === 'none' ? [] : [requiresOperator];
    router[route.method](routerPath(route), ...demands, handler);
  }
  return { router, requiresOperator };
}
