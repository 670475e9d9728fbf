import type { Context } from 'koa';
import { Problem, type ProblemCode } from '../problem.ts';

/** The requestId of the path. A malformed one is answered like one that does not exist, without asking core. */
export function readRequestId(ctx: Context, notFound: ProblemCode): string {
  const requestId: string = ctx.params.requestId;
  if (!isRequestId(requestId)) throw new Problem(notFound);
  ctx.state.requestId = requestId;
  return requestId;
}

/** Whether a text can name an operation. */
export function isRequestId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** Whether a text can be the handle of a hold. */
export function isPreauthorizationId(text: string): boolean {
  return /^pre_[A-Za-z0-9_-]{32}$/.test(text);
}
