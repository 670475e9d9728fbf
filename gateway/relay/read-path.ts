import type { Context } from 'koa';
import { Problem } from '../http/problem.ts';
import type { Announced } from './announced.ts';
import { relayNotification } from './relay-notification.ts';

const { path, method, parameters } = relayNotification;
const METHOD = method.toUpperCase();
const PATTERN = new RegExp(
  `^${path.replace('{kind}', `(${parameters.kind.options.join('|')})`).replace('{statusInfo}', '([^/]*)')}$`,
);

/** What every path of the relay starts with. */
export const PREFIX = path.slice(0, path.indexOf('{'));

/**
 * Matches method and path with the route's description, as they were sent: a router would decode `%61` to `a`, and the next reader may
 * not. Throws METHOD_NOT_ALLOWED, and NOT_FOUND for an unknown path or a malformed statusInfo.
 */
export function readPath(ctx: Context): Announced {
  const [, kind, statusInfo = ''] = PATTERN.exec(ctx.path) ?? [];
  if (kind === undefined) throw new Problem('NOT_FOUND');
  ctx._matchedRoute = `${PREFIX}${kind}/:statusInfo`;
  if (ctx.method !== METHOD) throw new Problem('METHOD_NOT_ALLOWED', { headers: { Allow: METHOD } });
  if (!parameters.statusInfo.safeParse(statusInfo).success) throw new Problem('NOT_FOUND');
  return { kind: kind as Announced['kind'], statusInfo };
}
