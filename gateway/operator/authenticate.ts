import assert from 'node:assert/strict';
import type { Context, Middleware } from 'koa';
import type { GrpcCall } from '../../proto/grpc.ts';
import { networkOf } from '../network.ts';
import { Problem } from '../problem.ts';
import { operatorName } from './schema/session.ts';
import type { Session, Sessions } from './session/sessions.ts';
import type { VerifyToken } from './verify-token.ts';

/** Name of the session's cookie. */
export const COOKIE = 'holdfast_operator';

/** Who is asking. */
export interface Operator {
  readonly token: string;
  /** A person's name for the audit log; empty = none was given. */
  readonly name: string;
  /** Absent for a bearer token. */
  readonly session?: Session;
  /** Whether what the request came with is good still. */
  readonly isLive: () => boolean;
}

/**
 * Demands `Authorization: Bearer <operator token>`, or the cookie of a console session; with the cookie, a call that changes something
 * must carry the session's X-CSRF-Token. Throws UNAUTHENTICATED, FORBIDDEN, RATE_LIMITED.
 */
export function authenticateOperator(verify: VerifyToken, sessions: Sessions): Middleware {
  return async (ctx, next) => {
    const operator = ctx.get('authorization') === '' ? bySession(ctx, sessions) : byBearer(ctx);
    await verify(operator.token, operator.session ? undefined : networkOf(ctx.ip));
    ctx.state.operator = operator;
    await next();
  };
}

/** Who is asking, on a route behind authenticateOperator(). */
export function operatorOf(ctx: Context): Operator {
  assert(ctx.state.operator, 'the route is behind authenticateOperator()');
  return ctx.state.operator as Operator;
}

/** How core is called in the operator's name: with his own credential, not with the gateway's. */
export function callOf(ctx: Context): GrpcCall & { metadata: Record<string, string> } {
  const { token, name } = operatorOf(ctx);
  return { metadata: { authorization: `Bearer ${token}`, ...(name !== '' && { 'x-operator': name }) } };
}

function byBearer(ctx: Context): Operator {
  const token = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))?.[1];
  if (token === undefined) throw new Problem('UNAUTHENTICATED');
  const name = ctx.get('x-operator');
  const fault = name === '' ? undefined : operatorName.safeParse(name).error?.issues[0];
  if (fault) {
    const errors = [{ field: 'X-Operator', message: fault.message }];
    throw new Problem('INVALID_REQUEST', { detail: 'The X-Operator header is not valid.', errors });
  }
  return { token, name, isLive: () => true };
}

function bySession(ctx: Context, sessions: Sessions): Operator {
  const session = sessions.open(ctx.cookies.get(COOKIE) ?? '');
  if (session === undefined) throw new Problem('UNAUTHENTICATED');
  const isReading = ctx.method === 'GET' || ctx.method === 'HEAD';
  if (!isReading && !sessions.isCsrfToken(session, ctx.get('x-csrf-token'))) {
    throw new Problem('FORBIDDEN', { detail: "X-CSRF-Token must carry the session's csrfToken." });
  }
  return { token: session.token, name: session.operator, session, isLive: () => sessions.isLive(session) };
}
