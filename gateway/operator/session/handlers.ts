import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Context, Middleware } from 'koa';
import type { Core } from '../../core.ts';
import type { Credentials } from '../../credentials.ts';
import { demandRate } from '../../demand-rate.ts';
import type { Limiter, Limits } from '../../limits.ts';
import { networkOf } from '../../network.ts';
import { readQuery } from '../../rest/read-query.ts';
import { NoQuery } from '../../rest/schema/fields.ts';
import { COOKIE, callOf, operatorOf } from '../authenticate.ts';
import { readFields } from '../read-fields.ts';
import type { SESSION_ROUTES } from '../routes/session.ts';
import { SignInBody } from '../schema/session.ts';
import type { VerifyToken } from '../verify-token.ts';
import { SESSION_SECONDS, type Session, type Sessions, sessionHash } from './sessions.ts';

/** Console sessions. */
export function sessionHandlers(
  { core, credentials }: { readonly core: Pick<Core, 'operators'>; readonly credentials: Pick<Credentials, 'refresh'> },
  verify: VerifyToken,
  sessions: Sessions,
  limits: Limits,
): Record<keyof typeof SESSION_ROUTES, Middleware> {
  const signIns = limits.limiter({ name: 'operator-sign-ins', points: MOST_SIGN_INS_PER_SECOND, durationSeconds: 1 });
  return {
    signIn: signIn(verify, sessions, signIns),
    getSession: getSession(sessions),
    signOut: signOut(core, credentials),
  };
}

/** Of one address, before anything of them is read. */
const MOST_SIGN_INS_PER_SECOND = 100;
/** A token and a name, even when every character of them is escaped. */
const MOST_SIGN_IN_BYTES = 4 * 1024;

/**
 * 200 the session, in a cookie that no script can read. Only JSON is taken, which no other site's form can send, so nobody can be
 * signed in unawares.
 */
function signIn(verify: VerifyToken, sessions: Sessions, signIns: Limiter): Middleware {
  return async (ctx) => {
    const network = networkOf(ctx.ip);
    await demandRate(signIns, network);
    const { token, operator = '' } = await readFields(ctx, SignInBody, MOST_SIGN_IN_BYTES);
    await verify(token, network);
    const session = sessions.start(token, operator);
    setCookie(ctx, sessions.seal(session), SESSION_SECONDS);
    ctx.body = sessionJson(sessions, session);
  };
}

/** 200 the session that the cookie names; with a bearer token there is none, only the name. */
function getSession(sessions: Sessions): Middleware {
  return async (ctx) => {
    readQuery(ctx, NoQuery);
    const { session, name } = operatorOf(ctx);
    ctx.body = session ? sessionJson(sessions, session) : { operator: name || undefined };
  };
}

/** 204 once it is on disk that the session is over: here at once, at every other gateway within a second. */
function signOut(core: Pick<Core, 'operators'>, credentials: Pick<Credentials, 'refresh'>): Middleware {
  return async (ctx) => {
    const { session } = operatorOf(ctx);
    if (session) {
      const expiresAt = timestampFromMs(session.expiresAtMs);
      await core.operators.endSession({ sessionHash: sessionHash(session), expiresAt }, callOf(ctx));
      await credentials.refresh();
    }
    setCookie(ctx, '', 0);
    ctx.status = 204;
  };
}

function sessionJson(sessions: Sessions, session: Session) {
  return {
    operator: session.operator || undefined,
    csrfToken: sessions.csrfToken(session),
    expiresAt: new Date(session.expiresAtMs).toISOString(),
  };
}

/** Secure wherever the browser came by https, which the proxy in front tells (X-Forwarded-Proto, when proxies are trusted). */
function setCookie(ctx: Context, value: string, maxAgeSeconds: number): void {
  ctx.cookies.set(COOKIE, value, {
    httpOnly: true,
    sameSite: 'strict',
    secure: ctx.secure,
    path: '/operator',
    maxAge: maxAgeSeconds * 1000,
    overwrite: true,
  });
}
