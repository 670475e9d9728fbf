import { z } from 'zod';
import { announce } from '../../../platform/adapter/postgres/inbox.ts';
import type { Webhooks } from '../../../platform/adapter/webhook-server.ts';
import type { Context } from '../adapter-context.ts';
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

/**
 * Whether Adyen captured again what had failed for a technical reason, which is told by its text alone
 * (docs.adyen.com/online-payments/capture/failure-reasons).
 */
export const isRecapture = ({ eventCode, reason }: Item) => eventCode === 'CAPTURE' && /recaptured/i.test(reason);

/** Says that an item changes nothing. Returns true: it is dealt with. */
export function ignore(
  { log }: Pick<Context, 'log'>,
  { pspReference: eventId, eventCode: kind }: Item,
  reason: string,
): true {
  log.info('notification ignored', { eventId, kind, reason });
  return true;
}

/** What Adyen tells notifications apart by: the same one may come again. */
const keyOf = (item: Item) =>
  `${item.pspReference} ${item.eventCode} ${item.success}${isRecapture(item) ? ' again' : ''}`;

const BODY = z.object({ notificationItems: z.array(z.object({ NotificationRequestItem: z.looseObject({}) })).min(1) });

/**
 * Takes what is posted to `/webhook/adyen`, signed with one of the keys. A notification is answered `[accepted]` once
 * all of its items are stored; Adyen sends it again until it is.
 */
export function webhooksTo(context: Context, hmacKeys: readonly string[], onNotification: () => void): Webhooks {
  return {
    path: '/webhook/adyen',
    async take(body) {
      const isStored = await store(context, hmacKeys, body);
      if (!isStored) return [401];
      onNotification();
      return [200, '[accepted]'];
    },
  };
}

/** Stores the items of a notification; false when it is not signed. */
async function store({ database, log }: Context, hmacKeys: readonly string[], body: Buffer): Promise<boolean> {
  const items = itemsOf(body);
  if (!items?.every((item) => isSigned(item, hmacKeys))) {
    log.warn('webhook refused', { reason: items ? 'signature' : 'form', bodyBytes: body.length });
    return false;
  }
  for (const signed of items) {
    // Null is not said, as in the signature.
    const said = Object.entries(signed).filter(([, value]) => value !== null);
    const { data: item } = ITEM.safeParse(Object.fromEntries(said));
    // A genuine one of another form is about something else than payments; refused, it would hold up those behind it.
    if (!item) log.warn('webhook ignored', { reason: 'form' });
    else {
      const isNew = await announce(database.query, { key: keyOf(item), item });
      log.info('webhook', { eventId: item.pspReference, kind: item.eventCode, duplicate: !isNew });
    }
  }
  return true;
}

function itemsOf(body: Buffer): object[] | undefined {
  try {
    return BODY.parse(JSON.parse(body.toString())).notificationItems.map((item) => item.NotificationRequestItem);
  } catch {
    return undefined;
  }
}
