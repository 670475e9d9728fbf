import type { Context } from 'koa';
import { z } from 'zod';
import { time } from '../../resource/answer-fields.ts';
import type { Session, Sessions } from './sessions.ts';

/** A person's name, as the audit log keeps it. */
export const operatorName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9 ._@+-]{0,63}$/, 'must be a letter, then at most 63 letters, digits or " ._@+-"')
  .meta({ description: 'Who it is, for the audit log', examples: ['alice'] });

/** A console session, or the caller of a bearer token. */
export const OperatorSession = z
  .object({
    operator: operatorName.optional(),
    csrfToken: z
      .string()
      .describe('What calls that change something carry in X-CSRF-Token; absent with a bearer token')
      .optional(),
    expiresAt: time('When the session ends; absent with a bearer token').optional(),
  })
  .meta({ id: 'OperatorSession' });

/** A session as JSON, without the operator token. */
export function sessionJson(sessions: Sessions, session: Session) {
  return {
    operator: session.operator || undefined,
    csrfToken: sessions.csrfToken(session),
    expiresAt: new Date(session.expiresAtMs).toISOString(),
  };
}

/** Name of the session's cookie. */
export const COOKIE = 'holdfast_operator';

/**
 * Sets the session's cookie, which no script can read. It is Secure when the browser used https; a proxy in front
 * reports that in X-Forwarded-Proto, which counts only when proxies are trusted.
 */
export function setCookie(ctx: Context, value: string, maxAgeSeconds: number): void {
  ctx.cookies.set(COOKIE, value, {
    httpOnly: true,
    sameSite: 'strict',
    secure: ctx.secure,
    path: '/operator',
    maxAge: maxAgeSeconds * 1000,
    overwrite: true,
  });
}
