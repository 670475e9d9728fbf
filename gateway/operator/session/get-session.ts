import { READ } from '../../http/problem-codes.ts';
import { operatorRoute } from '../route.ts';
import { OperatorSession, sessionJson } from './session.ts';

/** With a bearer token there is no session, only the name that the request gives. */
export const getSession = operatorRoute({
  method: 'get',
  path: '/operator/session',
  tag: 'Operators: session',
  summary: 'Look at the session',
  description:
    'Answers the `csrfToken` again, for a page that was loaded anew. With a bearer token there is no session, only ' +
    'the name that the request gives.',
  answers: { 200: { description: 'The session', schema: OperatorSession } },
  codes: READ,
  handler: ({ ctx, sessions, operator: { session, name } }) => {
    ctx.body = session ? sessionJson(sessions, session) : { operator: name || undefined };
  },
});
