import type { Context } from 'koa';
import { Problem } from '../problem.ts';
import { idempotencyKey } from './schema/headers.ts';

/** The Idempotency-Key header, to spread into a core request. Throws Problem INVALID_REQUEST naming the header. */
export function readIdempotencyKey(ctx: Context): { idempotencyKey?: string } {
  const values = ctx.req.headersDistinct['idempotency-key'];
  if (values === undefined) return {};
  const [key = '', ...others] = values;
  if (others.length > 0) throw invalid('is given more than once');
  const result = idempotencyKey.safeParse(key);
  if (!result.success) throw invalid(result.error.issues[0]?.message ?? '');
  return { idempotencyKey: key };
}

function invalid(message: string): Problem {
  return new Problem('INVALID_REQUEST', {
    detail: 'The Idempotency-Key header is not valid.',
    errors: [{ field: 'Idempotency-Key', message }],
  });
}
