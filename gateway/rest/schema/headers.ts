/** Headers that a merchant may send. */
import { z } from 'zod';
import { hasCardNumber } from '../../../proto/card-number.ts';

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7E]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .refine((key) => !hasCardNumber(key), 'must not contain a card number')
  .meta({
    description:
      'Makes a repetition safe: the same key with the same body gets the first answer again, with Idempotency-Replayed. ' +
      'One keyspace per merchant, for POST routes; kept for 24 hours or more',
    examples: ['order-1001-hold'],
  });

export const lastEventId = z
  .string()
  .regex(/^[\x21-\x7E]{0,64}$/, 'must be the id of an event of this stream')
  .meta({
    description: 'The id of the last event that was read; without it the stream begins now',
    examples: ['bzI6MTA0MjoxYjJjM2Q0ZTVmNjA'],
  });

/** Of a signed capture (RFC 9421, RFC 9530); signed-captures/ demands more of them than a pattern can say. */
export const signedCapture = {
  'Content-Digest': z.string().meta({ description: 'sha-256 of the body (RFC 9530)' }).optional(),
  'Signature-Input': z
    .string()
    .meta({ description: '"@method" "@path" "content-digest", and "idempotency-key" when sent (RFC 9421)' })
    .optional(),
  Signature: z.string().meta({ description: 'Ed25519 (RFC 9421)' }).optional(),
};

/** What a write answers. */
export const replayed = {
  'Idempotency-Replayed': z
    .literal('true')
    .meta({ description: 'This is the first answer again; the request changed nothing' })
    .optional(),
};
