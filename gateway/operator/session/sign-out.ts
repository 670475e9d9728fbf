import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { WRITE } from '../../http/problem-codes.ts';
import { operatorRoute } from '../route.ts';
import { setCookie } from './session.ts';
import { sessionHash } from './sessions.ts';

/** Answers once core has stored the end of the session. It is over here at once, and at every other gateway within a second. */
export const signOut = operatorRoute({
  method: 'delete',
  path: '/operator/session',
  tag: 'Operators: session',
  summary: 'End the session',
  description:
    'The cookie is removed, and a copy of it is refused, at other gateways within a second. With a bearer token ' +
    'nothing changes.',
  answers: { 204: { description: 'It is over, at every gateway' } },
  codes: WRITE,
  handler: async ({ ctx, core, credentials, asOperator, operator: { session } }) => {
    if (session) {
      const expiresAt = timestampFromMs(session.expiresAtMs);
      await core.operators.endSession({ sessionHash: sessionHash(session), expiresAt }, asOperator);
      await credentials.refresh();
    }
    setCookie(ctx, '', 0);
    ctx.status = 204;
  },
});
