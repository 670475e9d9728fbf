import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';

/** The header of every answer that names the HTTP request. A repeated request has another one, unlike its operation's requestId. */
export const REQUEST_ID_HEADER = 'X-Request-Id';

/**
 * Names each HTTP request, in the answer and in the log. The client's own X-Request-Id is taken when it is a UUID; anything else may be long,
 * secret or a card number, and is replaced.
 */
export const nameRequests: Middleware = (ctx, next) => {
  const given = ctx.get(REQUEST_ID_HEADER);
  ctx.state.httpRequestId = UUID.test(given) ? given : randomUUID();
  ctx.set(REQUEST_ID_HEADER, ctx.state.httpRequestId);
  return next();
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
