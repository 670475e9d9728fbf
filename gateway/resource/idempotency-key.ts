import type { Context } from 'koa';
import { z } from 'zod';
import { hasCardNumber } from '../../platform/card-number.ts';
import { invalidHeader } from '../http/problem.ts';

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7E]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .refine((key) => !hasCardNumber(key), 'must not contain a card number')
  .meta({
    description:
      'Makes a repetition safe: the same key with the same body gets the first answer again, with ' +
      'Idempotency-Replayed. One keyspace per merchant, for POST routes; kept for 7 days',
    examples: ['order-1001-hold'],
  });

const HEADER = 'Idempotency-Key';

/** The request header, for a route's description. */
export const KEYED = { [HEADER]: idempotencyKey.optional() };

/** The answer's header, for a route's description. */
export const REPLAYED = {
  'Idempotency-Replayed': z
    .literal('true')
    .describe('This is the first answer again; the request changed nothing')
    .optional(),
};

/**
 * Reads the Idempotency-Key header, to spread into a core request. Throws Problem INVALID_REQUEST naming the header.
 */
export function readIdempotencyKey(ctx: Context): { idempotencyKey?: string } {
  if (ctx.req.headers['idempotency-key'] === undefined) return {};
  const [key = '', ...others] = ctx.req.headersDistinct['idempotency-key'] ?? [];
  if (others.length > 0) throw invalidHeader(HEADER, 'is given more than once');
  const result = idempotencyKey.safeParse(key);
  if (!result.success) throw invalidHeader(HEADER, result.error.issues[0]?.message ?? '');
  return { idempotencyKey: key };
}
