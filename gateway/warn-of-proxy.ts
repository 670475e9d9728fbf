import type { Middleware } from 'koa';
import type { Log } from '../proto/log.ts';

/**
 * Warns once when a proxy tells the client's address though none is trusted: all its clients then share its address, and with it
 * their limits. Whoever reaches the gateway can send the header, too, so it is no proof of a proxy.
 */
export function warnOfProxy(log: Log): Middleware {
  let hasWarned = false;
  return (ctx, next) => {
    if (!hasWarned && (ctx.get('x-forwarded-for') !== '' || ctx.get('forwarded') !== '')) {
      hasWarned = true;
      log.warn('X-Forwarded-For ignored: TRUSTED_PROXY_HOPS is 0', { address: ctx.req.socket.remoteAddress });
    }
    return next();
  };
}
