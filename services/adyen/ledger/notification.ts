import { z } from 'zod';
import type { Query, Statement } from '../../../platform/adapter/postgres/database.ts';

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

const INSERT: Statement = {
  name: 'insert_notification',
  text: `INSERT INTO adyen.notification (psp_reference, event_code, success, item) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING RETURNING psp_reference`,
};

/** Stores a notification; false when it came before. */
export async function insertNotification(query: Query, item: Item): Promise<boolean> {
  const { pspReference, eventCode, success } = item;
  return (await query(INSERT, [pspReference, eventCode, success, JSON.stringify(item)])).length > 0;
}

const TAKE: Statement = {
  name: 'take_due_notifications',
  text: `UPDATE adyen.notification SET attempts = attempts + 1,
    due_at = now() + least(3600, 2 ^ least(attempts, 12)) * interval '1 s'
    WHERE (psp_reference, event_code, success) IN (SELECT psp_reference, event_code, success FROM adyen.notification
      WHERE done_at IS NULL AND due_at <= now() ORDER BY received_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING item`,
};

/** Takes notifications that are due, and puts them off, ever longer: one that waits for another comes again. */
export async function takeDueNotifications(query: Query, limit: number): Promise<Item[]> {
  return (await query<{ item: unknown }>(TAKE, [limit])).map(({ item }) => ITEM.parse(item));
}

const DONE: Statement = {
  name: 'finish_notification',
  text: 'UPDATE adyen.notification SET done_at = now() WHERE psp_reference = $1 AND event_code = $2 AND success = $3',
};

/** Stores that a notification was dealt with. It is kept: Adyen may repeat it for days. */
export async function finishNotification(query: Query, { pspReference, eventCode, success }: Item): Promise<void> {
  await query(DONE, [pspReference, eventCode, success]);
}
