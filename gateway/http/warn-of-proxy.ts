import type { Middleware } from 'koa';
import type { Log } from '../../platform/log.ts';

/**
 * Warns once when a request carries a proxy's header though no proxy is trusted: all clients behind the proxy then share its address, and with
 * it their limits. The header is no proof of a proxy, because any client can send it.
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
