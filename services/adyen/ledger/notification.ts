import { z } from 'zod';

const text = z.string().max(256);

/**
 * A NotificationRequestItem, as far as it is used (docs.adyen.com/development-resources/webhooks). Adyen writes
 * `success` as a text.
 */
export const ITEM = z.object({
  pspReference: text.min(1),
  originalReference: text.default(''),
  merchantReference: text.default(''),
  eventCode: text.min(1),
  success: z.union([z.boolean(), z.enum(['true', 'false'])]).transform((value) => String(value) === 'true'),
  reason: z.string().default(''),
  amount: z.object({ value: z.int().nonnegative(), currency: z.string().max(3) }).default({ value: 0, currency: '' }),
});
export type Item = z.output<typeof ITEM>;

/** What Adyen tells notifications apart by: the same one may come again. */
export const keyOf = ({ pspReference, eventCode, success }: Item) => `${pspReference} ${eventCode} ${success}`;
