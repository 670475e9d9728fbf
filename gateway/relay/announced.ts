import type { Context } from 'koa';
import { Problem } from '../problem.ts';

/** Which message a path announces. */
export interface Announced {
  readonly kind: 'payment' | 'oct';
  readonly statusInfo: string;
}

const PATH = /^\/webhook\/processor\/(payment|oct)\/([^/]*)$/;
/** What became of it: the path's last segment (docs/product.md, "Fields of a relayed notification"). */
export const STATUS_INFO = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/**
 * Reads method and path as they were sent: an escaped letter is not the letter, for the next reader may disagree.
 * Throws METHOD_NOT_ALLOWED, or NOT_FOUND for a path or statusInfo that is none of ours.
 */
export function readAnnounced(ctx: Context): Announced {
  const [, kind, statusInfo = ''] = PATH.exec(ctx.path) ?? [];
  if (kind === undefined) throw new Problem('NOT_FOUND');
  ctx._matchedRoute = `/webhook/processor/${kind}/:statusInfo`;
  if (ctx.method !== 'POST') throw new Problem('METHOD_NOT_ALLOWED', { headers: { Allow: 'POST' } });
  if (!STATUS_INFO.test(statusInfo)) throw new Problem('NOT_FOUND');
  return { kind: kind as Announced['kind'], statusInfo };
}
