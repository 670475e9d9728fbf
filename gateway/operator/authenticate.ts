import type { Context, Middleware } from 'koa';
import { networkOf } from '../../platform/client-address.ts';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import { invalidHeader, Problem } from '../http/problem.ts';
import { COOKIE, operatorName, type Session, type Sessions } from './session/sessions.ts';
import type { VerifyToken } from './session/verify-token.ts';

export interface Operator {
  readonly token: string;
  /** A person's name for the audit log; empty = none was given. */
  readonly name: string;
  /** Absent for a bearer token. */
  readonly session?: Session;
  readonly isLive: () => boolean;
}

/**
 * Demands `Authorization: Bearer <operator token>`, or the cookie of a console session; a call by cookie that changes
 * something must also carry the session's X-CSRF-Token. Throws UNAUTHENTICATED, FORBIDDEN, RATE_LIMITED.
 */
export function authenticateOperator(verify: VerifyToken, sessions: Sessions): Middleware {
  return async (ctx, next) => {
    const operator = ctx.get('authorization') === '' ? bySession(ctx, sessions) : byBearer(ctx);
    await verify(operator.token, operator.session ? undefined : networkOf(ctx.ip));
    ctx.state.operator = operator;
    await next();
  };
}

/** Options of a call to core in the operator's name: with the operator's own token instead of the gateway's. */
export function coreCallOf({ token, name }: Operator): GrpcCall & { metadata: Record<string, string> } {
  return { metadata: { authorization: `Bearer ${token}`, ...(name !== '' && { 'x-operator': name }) } };
}

const HOW = 'Send the header `Authorization: Bearer <operator token>`, or sign in at /console.';

function byBearer(ctx: Context): Operator {
  const token = /^Bearer +(\S+)$/i.exec(ctx.get('authorization'))?.[1];
  if (token === undefined) throw new Problem('UNAUTHENTICATED', { detail: HOW });
  const name = ctx.get('x-operator');
  const fault = name === '' ? undefined : operatorName.safeParse(name).error?.issues[0];
  if (fault) throw invalidHeader('X-Operator', fault.message);
  return { token, name, isLive: () => true };
}

function bySession(ctx: Context, sessions: Sessions): Operator {
  const session = sessions.open(ctx.cookies.get(COOKIE) ?? '');
  if (session === undefined) throw new Problem('UNAUTHENTICATED', { detail: HOW });
  const isReading = ctx.method === 'GET' || ctx.method === 'HEAD';
  if (!isReading && !sessions.isCsrfToken(session, ctx.get('x-csrf-token'))) {
    throw new Problem('FORBIDDEN', { detail: "X-CSRF-Token must carry the session's csrfToken." });
  }
  return { token: session.token, name: session.operator, session, isLive: () => sessions.isLive(session) };
}
