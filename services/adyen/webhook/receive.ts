import { z } from 'zod';
import type { Database } from '../../../platform/adapter/postgres/database.ts';
import { announce } from '../../../platform/adapter/postgres/inbox.ts';
import type { Reply, Webhooks } from '../../../platform/adapter/webhook-server.ts';
import type { Log } from '../../../platform/log.ts';
import { isSigned } from './hmac.ts';

const text = z.string().max(256);

/**
 * A NotificationRequestItem, as far as it is used (docs.adyen.com/development-resources/webhooks). Adyen writes
 * `success` as a text.
 */
const ITEM = z.object({
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
const keyOf = ({ pspReference, eventCode, success }: Item) => `${pspReference} ${eventCode} ${success}`;

/** What the webhook server needs. */
interface Receiver {
  readonly database: Database;
  /** Keys of the webhook, any of which may have signed. */
  readonly hmacKeys: readonly string[];
  readonly log: Log;
  /** Called when there is a new notification. */
  readonly onNotification: () => void;
}

const BODY = z.object({ notificationItems: z.array(z.object({ NotificationRequestItem: z.looseObject({}) })).min(1) });

/** Takes what is posted to `/webhook/adyen`. */
export function webhooksTo(receiver: Receiver): Webhooks {
  return { path: '/webhook/adyen', take: (body) => take(receiver, body) };
}

/** A notification is answered `[accepted]` once all of its items are stored; Adyen sends it again until it is. */
async function take({ database, hmacKeys, log, onNotification }: Receiver, body: Buffer): Promise<Reply> {
  const items = itemsOf(body);
  if (!items?.every((item) => isSigned(item, hmacKeys))) {
    log.warn('webhook refused', { reason: items ? 'signature' : 'form', bodyBytes: body.length });
    return [401];
  }
  for (const signed of items) {
    const { data: item } = ITEM.safeParse(signed);
    // A genuine one of another form is about something else than payments; refused, it would hold up those behind it.
    if (!item) log.warn('webhook ignored', { reason: 'form' });
    else {
      const isNew = await announce(database.query, { key: keyOf(item), item });
      log.info('webhook', { eventId: item.pspReference, kind: item.eventCode, duplicate: !isNew });
    }
  }
  onNotification();
  return [200, '[accepted]'];
}

function itemsOf(body: Buffer): object[] | undefined {
  try {
    return BODY.parse(JSON.parse(body.toString())).notificationItems.map((item) => item.NotificationRequestItem);
  } catch {
    return undefined;
  }
}
