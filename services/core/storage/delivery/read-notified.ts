import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import type { HoldRow } from '../hold/hold-row.ts';

/** The fields of a result's notification besides the result itself. */
export interface NotifiedRow
  extends Pick<HoldRow, 'cardBrand' | 'cardLast4' | 'cardExpiryMonth' | 'cardExpiryYear' | 'generatedTokenId'>,
    Pick<HoldRow, 'cardFunding' | 'cardThreeDSecure' | 'cardDeclineCode'> {
  readonly requestId: string;
  /** Its delivery to the webhook; null = the merchant had no webhookUrl. */
  readonly deliveryId: string | null;
  /** Null also once purged. */
  readonly body: Buffer | null;
  readonly imported: boolean;
  /** Of an extension: when the hold ended after it; null = it is none. */
  readonly expiresAt: Date | null;
  /** Of a hold, increment or extension: how long the card scheme guaranteed the hold after it; null = not known. */
  readonly guaranteedUntil: Date | null;
}

/** Reads what the notifications of results say, by requestId. */
export async function readNotified(query: Query, requestIds: readonly string[]): Promise<Map<string, NotifiedRow>> {
  const rows = await query<NotifiedRow>(READ_NOTIFIED, [requestIds]);
  return new Map(rows.map((row) => [row.requestId, row]));
}

/** SQL: the card of the hold or, without a hold, of the submission: the result's own, or of the one it is about. */
const CARD = ['brand', 'last4', 'expiry_month', 'expiry_year', 'funding', 'three_d_secure', 'decline_code']
  .map((name) => `coalesce(h.card_${name}, s.card_${name}) as card_${name}`)
  .join(',\n      ');

/** Only the notification of a hold's own result has the token. */
const READ_NOTIFIED = sql('read-notified')`
    select o.request_id, d.id as delivery_id, d.body, i.request_id is not null as imported,
      case when o.kind in ('EXTENSION', 'RENEWAL') and o.status = 'OK' then s.expires_at_after end as expires_at,
      case when o.status <> 'OK' then null when o.kind = 'HOLD' then h.first_guaranteed_until
        when o.kind in ('INCREMENT', 'EXTENSION', 'RENEWAL') then s.guaranteed_until_after end as guaranteed_until,
      ${CARD},
      case when o.kind = 'HOLD' then h.generated_token_id end as generated_token_id
    from operation o
    left join hold h on ${byIndex('h.request_id', 'coalesce(o.hold_request_id, o.request_id)')}
    left join submission s on ${byIndex('s.request_id', 'coalesce(o.oct_request_id, o.corrects_request_id, o.request_id)')}
    left join imported i on ${byIndex('i.request_id', 'o.request_id')} and i.what = 'OPERATION'
    left join delivery d on ${byIndex('d.request_id', 'o.request_id::text')} and d.merchant_id = o.merchant_id
      and d.endpoint_kind = 'webhook'
    where o.request_id = any($1::uuid[])`;
