import type { Context } from 'koa';
import { v7 as uuidv7 } from 'uuid';
import { isServiceError, Problem, problemOfRpc } from '../../problem.ts';
import { OutcomeUnknown } from '../../repeat-calls.ts';

/**
 * Makes a write under a requestId that is drawn here, so that it can be repeated when a connection breaks, and asked about when no
 * answer comes. What is not known is answered 202; what went wrong unforeseen, 500: both with the requestId.
 */
export async function write(
  ctx: Context,
  make: (name: { readonly operationRequestId: string }) => Promise<void>,
): Promise<void> {
  const requestId = uuidv7();
  ctx.state.requestId = requestId;
  try {
    await make({ operationRequestId: requestId });
  } catch (error) {
    if (error instanceof OutcomeUnknown) return answerInProgress(ctx, { requestId }, false);
    const problem = isServiceError(error) ? problemOfRpc(error) : error;
    if (problem instanceof Problem && problem.code !== 'INTERNAL') throw problem;
    throw new Problem('INTERNAL', { requestId, cause: error });
  }
}

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
  ids: { requestId: string; holdRequestId?: string | undefined },
  replayed: boolean,
): void {
  ctx.status = 202;
  ctx.body = { ...ids, status: 'IN_PROGRESS' };
  ctx.state.requestId = ids.requestId;
  if (replayed) ctx.set('Idempotency-Replayed', 'true');
}
