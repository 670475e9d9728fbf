import { READ, WRITE } from '../../codes.ts';
import type { Route } from '../../route.ts';
import { OperatorSession, SignInBody } from '../schema/session.ts';

const common = { tag: 'Operators: session', credential: 'operator' } as const;

/** Console sessions. */
export const SESSION_ROUTES = {
  signIn: {
    ...common,
    method: 'post',
    path: '/operator/session',
    summary: 'Start a console session',
    description:
      'Answers a cookie (httpOnly, SameSite=strict) that stands for the operator token for 8 hours. Calls that change ' +
      'something by cookie carry `csrfToken` in `X-CSRF-Token`. Five wrong tokens a minute from one address, then 429 with ' +
      'a growing penalty; the right one is taken all the same.',
    credential: 'none',
    body: SignInBody,
    answers: { 200: { description: 'The session', schema: OperatorSession } },
    codes: WRITE,
  },
  getSession: {
    ...common,
    method: 'get',
    path: '/operator/session',
    summary: 'Look at the session',
    answers: { 200: { description: 'The session', schema: OperatorSession } },
    codes: READ,
  },
  signOut: {
    ...common,
    method: 'delete',
    path: '/operator/session',
    summary: 'End the session',
    answers: { 204: { description: 'It is over, at every gateway' } },
    codes: WRITE,
  },
} as const satisfies Record<string, Route>;
