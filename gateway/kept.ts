/** What is made once and is the same for everybody until the next release. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';

/** A body that browsers may keep. */
export interface Kept {
  /** As Koa takes it: `html`, `text/javascript`. */
  readonly type: string;
  readonly body: string | Buffer;
  readonly etag: string;
}

/** Names the body by its content. */
export function keep(type: string, body: string | Buffer): Kept {
  return { type, body, etag: createHash('sha256').update(body).digest('base64url') };
}

/** Answers 200 with the body, or 304 to who has it already. How long it may be kept unasked is for the caller to say. */
export function answerKept(ctx: Context, { type, body, etag }: Kept): void {
  ctx.status = 200;
  ctx.etag = etag;
  ctx.type = type;
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = body;
}
