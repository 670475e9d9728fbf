/** Caches static responses with an ETag. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';

/** A response that clients may cache. */
export type CachedResponse = ReturnType<typeof cached>;

/** Makes a response whose ETag is the hash of its body. `type` is as Koa takes it: `html`, `text/javascript`. */
export function cached(type: string, body: string | Buffer) {
  return { type, body, etag: createHash('sha256').update(body).digest('base64url') };
}

/** Answers 200 with the body, or 304 when the client has it already. The caller sets Cache-Control. */
export function answerCached(ctx: Context, { type, body, etag }: CachedResponse): void {
  ctx.status = 200;
  ctx.etag = etag;
  ctx.type = type;
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = body;
}
