import type { Context } from 'koa';
import { Problem } from '../problem.ts';
import { hasCardNumber } from './card-number.ts';

/** The Idempotency-Key header, to spread into a core request. Throws Problem INVALID_REQUEST naming the header. */
export function readIdempotencyKey(ctx: Context): { idempotencyKey?: string } {
  const values = ctx.req.headersDistinct['idempotency-key'];
  if (values === undefined) return {};
  const [key = '', ...others] = values;
  if (others.length > 0) throw invalid('is given more than once');
  if (!/^[\x21-\x7E]{1,255}$/.test(key)) throw invalid('must be 1 to 255 visible ASCII characters');
  if (hasCardNumber(key)) throw invalid('must not contain a card number');
  return { idempotencyKey: key };
}

function invalid(message: string): Problem {
  return new Problem('INVALID_REQUEST', {
    detail: 'The Idempotency-Key header is not valid.',
    errors: [{ field: 'Idempotency-Key', message }],
  });
}
