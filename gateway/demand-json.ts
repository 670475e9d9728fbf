import type { Context } from 'koa';
import { Problem } from './problem.ts';

/** Throws UNSUPPORTED_MEDIA_TYPE unless the body is application/json in UTF-8 and not encoded (no gzip). */
export function demandJson(ctx: Context): void {
  const isJson = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(ctx.get('content-type'));
  if (!isJson) throw new Problem('UNSUPPORTED_MEDIA_TYPE', { detail: 'The body must be application/json in UTF-8.' });
  const encoding = ctx.get('content-encoding');
  if (encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', { detail: 'The body must not be encoded.' });
  }
}
