/**
 * Schemas of fields that several answers share. A later version may add fields to an answer; clients must ignore
 * unknown ones.
 */
import { z } from 'zod';

export const requestId = z.uuid().meta({
  description: 'Names the operation (UUIDv7); not secret',
  examples: ['0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b'],
});

export const preauthorizationId = z
  .string()
  .regex(/^pre_[A-Za-z0-9_-]{32}$/)
  .meta({
    description: 'Handle that captures the hold. Sensitive: keep it like a password',
    examples: ['pre_3q2-7wQx0nV5bYk8Jm1ZcR4tLh6sDfGa'],
  });

/** An amount in minor units; 0 for none. */
export const money = (description: string) =>
  z
    .int()
    .min(0)
    .max(999_999_999_999)
    .meta({ description: `${description}, minor units`, examples: [4200] });

export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .meta({ description: 'ISO 4217 code', examples: ['EUR'] });

/** RFC 3339, UTC, milliseconds. */
export const time = (description: string) =>
  z.iso.datetime({ precision: 3 }).meta({ description, examples: ['2026-11-21T12:00:00.000Z'] });

/** State of an operation; OK and KO are final. */
export const operationStatus = z
  .enum(['PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO'])
  .meta({ description: 'OK and KO are final; the others end in one of them' });

export const holdStatus = z
  .enum(['IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED'])
  .meta({ description: 'State of the hold' });

/** Merchant, terminal and user, as the request gave them. */
export const parties = {
  merchantId: z.string().meta({ description: 'The merchant', examples: ['acme'] }),
  terminalId: z.string().meta({ description: 'The terminal', examples: ['till-1'] }),
  userId: z.string().meta({ description: "The merchant's user", examples: ['user-1'] }),
  merchantReference: z
    .string()
    .meta({ description: "The merchant's own reference", examples: ['order-1001'] })
    .optional(),
};

export const paymentMethodData = z
  .object({
    type: z
      .string()
      .meta({ examples: ['card'] })
      .optional(),
    brand: z
      .string()
      .meta({ examples: ['visa'] })
      .optional(),
    last4: z
      .string()
      .meta({ examples: ['4242'] })
      .optional(),
    expiryMonth: z.int().min(1).max(12).optional(),
    expiryYear: z.int().min(1).max(9999).optional(),
    funding: z.enum(['credit', 'debit', 'prepaid']).optional(),
    threeDSecure: z
      .enum(['authenticated', 'attempted', 'exempted', 'failed'])
      .meta({ description: 'How 3-D Secure ended; absent = not used, or not known' })
      .optional(),
    declineCode: z
      .string()
      .meta({
        description:
          "The card network's code of a decline; not for the customer's eyes: some say that a card is stolen",
        examples: ['51'],
      })
      .optional(),
  })
  .meta({ id: 'PaymentMethodData', description: 'The card, as far as it may be shown' });

export const tokenData = z
  .object({ tokenId: z.string().meta({ examples: ['tok_5f0c'] }) })
  .meta({ id: 'TokenData', description: 'The token that the checkout generated' });

export const reference = z.string().meta({ description: "The processor's reference" });

export const bankReference = z.string().meta({ description: "The bank's reference" });

/** Why the processor refused. */
export const processorFields = {
  processorCode: z
    .string()
    .meta({ examples: ['insufficient_funds'] })
    .optional(),
  processorMessage: z.string().meta({ description: "The processor's words, for people" }).optional(),
};

/** A page of a list (AIP-158). */
export const pageOf = <S extends z.ZodType>(items: S) =>
  z.object({
    items: z.array(items),
    nextPageToken: z
      .string()
      .meta({
        description:
          'pageToken of the next page; absent on the last. A page that has fewer items, or none, may have one',
      })
      .optional(),
  });
