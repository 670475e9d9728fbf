import { z } from 'zod';
import { networkOf } from '../../http/client-address.ts';
import { WRITE } from '../../http/problem-codes.ts';
import { publicRoute } from '../route.ts';
import { OperatorSession, operatorName, sessionJson, setCookie } from './session.ts';
import { SESSION_SECONDS } from './sessions.ts';

/** Only JSON is accepted, which a form of another site cannot send: nobody can be signed in without noticing. */
export const signIn = publicRoute({
  method: 'post',
  path: '/operator/session',
  tag: 'Operators: session',
  summary: 'Start a console session',
  description:
    'Answers a cookie (httpOnly, SameSite=strict) that stands for the operator token for 8 hours. Calls that change ' +
    'something by cookie carry `csrfToken` in `X-CSRF-Token`. Five wrong tokens a minute from one address, then 429 with ' +
    'a growing penalty; the right one is taken all the same.',
  body: z
    .strictObject({
      token: z.string().min(1).max(256).meta({ description: 'The operator token' }),
      operator: operatorName.optional(),
    })
    .meta({ id: 'SignIn', description: 'Starts a console session of 8 hours' }),
  /** A token and a name, even with every character escaped. */
  maxBodyBytes: 4 * 1024,
  answers: { 200: { description: 'The session', schema: OperatorSession } },
  codes: WRITE,
  handler: async ({ ctx, verify, sessions, body: { token, operator = '' } }) => {
    await verify(token, networkOf(ctx.ip));
    const session = sessions.start(token, operator);
    setCookie(ctx, sessions.seal(session), SESSION_SECONDS);
    ctx.body = sessionJson(sessions, session);
  },
});
