import type { Middleware } from 'koa';
import { Problem } from './problem.ts';

/**
 * Converts the request target to origin form (RFC 9112, section 3.2): the path as it was sent, and the query. The
 * absolute form, which every server must accept, loses its authority. Throws INVALID_REQUEST for an invalid target:
 * parsers behind this one would fail on it, or read it as another path (they strip `#…` and some spaces).
 */
export const readRequestTarget: Middleware = (ctx, next) => {
  ctx.url = originForm(ctx.url);
  return next();
};

function originForm(target: string): string {
  if (target === '*' || PATH_AND_QUERY.test(target)) return target;
  const [, authority = '', rest = ''] = ABSOLUTE.exec(target) ?? [];
  const pathAndQuery = rest.startsWith('/') ? rest : `/${rest}`;
  if (PATH_AND_QUERY.test(pathAndQuery) && URL.canParse(`http://${authority}`)) return pathAndQuery;
  throw new Problem('INVALID_REQUEST', { detail: 'The request target is neither a path nor an http URL.' });
}

/** Visible ASCII without `#`. */
const PATH_AND_QUERY = /^\/[\x21\x22\x24-\x7E]*$/;
const ABSOLUTE = /^https?:\/\/([^/?#@\\]+)((?:[/?].*)?)$/i;
