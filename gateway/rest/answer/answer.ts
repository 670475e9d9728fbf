import type { Context } from 'koa';

/** Answers a write: the body with its status, and whether it was kept under an idempotency key. */
export function answer(ctx: Context, status: 200 | 201, body: { requestId: string }, replayed: boolean): void {
  ctx.status = status;
  ctx.body = body;
  ctx.state.requestId = body.requestId;
  if (replayed) ctx.set('Idempotency-Replayed', 'true');
}

/** Answers a write whose outcome is not known yet: nothing but what to ask about later. */
export function answerInProgress(
  ctx: Context,
  ids: { requestId: string; holdRequestId?: string },
  replayed: boolean,
): void {
  ctx.status = 202;
  ctx.body = { ...ids, status: 'IN_PROGRESS' };
  ctx.state.requestId = ids.requestId;
  if (replayed) ctx.set('Idempotency-Replayed', 'true');
}
