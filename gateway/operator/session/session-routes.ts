import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Context } from 'koa';
import { z } from 'zod';
import { networkOf } from '../../../platform/client-address.ts';
import { TIME } from '../../resource/answer-fields.ts';
import { operatorRoute, publicRoute } from '../route.ts';
import { COOKIE, operatorName, SESSION_SECONDS, type Session, type Sessions, sessionHash } from './sessions.ts';

const OperatorSession = z
  .object({
    operator: operatorName.optional(),
    csrfToken: z
      .string()
      .describe('What calls that change something carry in X-CSRF-Token; absent with a bearer token')
      .optional(),
    expiresAt: TIME.schema.describe('When the session ends; absent with a bearer token').optional(),
  })
  .meta({ id: 'OperatorSession' });

function sessionJson(sessions: Sessions, session: Session) {
  return {
    operator: session.operator || undefined,
    csrfToken: sessions.csrfToken(session),
    expiresAt: new Date(session.expiresAtMs).toISOString(),
  };
}

export const SESSION_ROUTES = {
  /** Only JSON is accepted, which a form of another site cannot send: nobody can be signed in without noticing. */
  signIn: publicRoute('session', 'POST /operator/session', {
    effect: 'READ',
    summary: 'Start a console session',
    description:
      'Answers a cookie (httpOnly, SameSite=strict) that stands for the operator token for 8 hours. Calls that ' +
      'change something by cookie carry `csrfToken` in `X-CSRF-Token`. Five wrong tokens a minute from one address, ' +
      'then 429 with a growing penalty; the right one is taken all the same.',
    body: z
      .strictObject({
        token: z.string().min(1).max(256).describe('The operator token'),
        operator: operatorName.optional(),
      })
      .meta({ id: 'SignIn', description: 'Starts a console session of 8 hours' }),
    /** A token and a name, even with every character escaped. */
    maxBodyBytes: 4 * 1024,
    answers: { 200: { description: 'The session', schema: OperatorSession } },
    handler: async ({ ctx, verify, sessions, body: { token, operator = '' } }) => {
      await verify(token, networkOf(ctx.ip));
      const session = sessions.start(token, operator);
      setCookie(ctx, sessions.seal(session), SESSION_SECONDS);
      return sessionJson(sessions, session);
    },
  }),
  getSession: operatorRoute('session', 'GET /operator/session', {
    summary: 'Look at the session',
    description:
      'Answers the `csrfToken` again, for a page that was loaded anew. With a bearer token there is no session, only ' +
      'the name that the request gives.',
    answers: { 200: { description: 'The session', schema: OperatorSession } },
    handler: ({ sessions, operator: { session, name } }) =>
      session ? sessionJson(sessions, session) : { operator: name || undefined },
  }),
  /**
   * Answers once core has stored the end of the session. It is over here at once, and at every other gateway within a
   * second.
   */
  signOut: operatorRoute('session', 'DELETE /operator/session', {
    summary: 'End the session',
    description:
      'The cookie is removed, and a copy of it is refused, at other gateways within a second. With a bearer token ' +
      'nothing changes.',
    answers: { 204: { description: 'It is over, at every gateway' } },
    handler: async ({ ctx, core, credentials, asOperator, operator: { session } }) => {
      if (session) {
        const expiresAt = timestampFromMs(session.expiresAtMs);
        await core.operators.endSession({ sessionHash: sessionHash(session), expiresAt }, asOperator);
        await credentials.refresh();
      }
      setCookie(ctx, '', 0);
    },
  }),
} as const;

/**
 * Sets the session's cookie, which no script can read. It is Secure when the browser used https; a proxy in front
 * reports that in X-Forwarded-Proto, which counts only when proxies are trusted.
 */
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
