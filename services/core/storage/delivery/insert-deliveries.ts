import { type Query, sql } from '../database.ts';

/** SQL that forwards the notifications of a table `from` to internal endpoints; id, signature and time are SQL. */
export function insertForwards({ id, signature, at, from }: Record<'id' | 'signature' | 'at' | 'from', string>) {
  return `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, state,
    attempt_count, due_at, created_at)
  select ${id}, merchant_id, 'internal', request_id, kind, status_info, body, ${signature}, 'PENDING', 0, ${at}, ${at}
    from ${from}
  returning merchant_id as "merchantId", endpoint_kind as kind`;
}

/** Stores a test delivery to the merchant's webhook, due at once. Returns false when it has no webhookUrl. */
export async function insertTestDelivery(
  query: Query,
  { id, merchantId, requestId, body, at }: Record<'id' | 'merchantId' | 'requestId' | 'body', string> & { at: Date },
): Promise<boolean> {
  return (await query(INSERT_TEST_DELIVERY, [id, merchantId, requestId, body, at])).length === 1;
}

const INSERT_TEST_DELIVERY = sql('insert-test-delivery')`
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at)
    select $1, m.id, 'webhook', $3, 'payment', 'test', convert_to($4, 'UTF8'), 'PENDING', 0, $5, $5
    from merchant m where m.id = $2 and m.webhook_url is not null
    returning id`;
