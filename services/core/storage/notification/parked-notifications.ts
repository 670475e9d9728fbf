import { drawId } from '../../../../platform/draw-id.ts';
import { type Query, sql } from '../database.ts';
import { insertForwards } from '../delivery/insert-deliveries.ts';
import type { EndpointKey } from '../endpoint/endpoint-row.ts';
import { hasInternal } from '../endpoint/fan-out.ts';

/**
 * Creates deliveries for parked notifications of merchants that now have an internal endpoint, oldest first, at most
 * `limit` per merchant. One that no endpoint asks for is parked no longer. Returns their number, and the endpoint of each
 * delivery. Call it in a transaction; concurrent callers take different ones.
 */
export async function forwardParked(query: Query, at: Date, limit: number): Promise<Forwarded> {
  const names = await query<{ merchantId: string; requestId: string }>(LOCK_PARKED, [limit]);
  if (names.length === 0) return { count: 0, endpoints: [] };
  const rows = names.map((name) => ({ ...name, deliveryId: drawId() }));
  return { count: names.length, endpoints: await query<EndpointKey>(FORWARD, [JSON.stringify(rows), at]) };
}

interface Forwarded {
  readonly count: number;
  readonly endpoints: readonly EndpointKey[];
}

/** Skips through the index from merchant to merchant, so that one without an internal endpoint costs one step. */
const LOCK_PARKED = sql('lock-parked-notifications')`with recursive parking as (
    (select merchant_id from notification where parked_signature is not null order by merchant_id limit 1)
    union all
    select next.merchant_id from parking p, lateral (
      select n.merchant_id from notification n where n.parked_signature is not null and n.merchant_id > p.merchant_id
      order by n.merchant_id limit 1) next
  )
  select parked.merchant_id as "merchantId", parked.request_id as "requestId"
  from parking p
  join merchant m on m.id = any (array[p.merchant_id]) and ${hasInternal('m')}
  cross join lateral (
    select n.merchant_id, n.request_id from notification n
    where n.merchant_id = p.merchant_id and n.parked_signature is not null and n.body is not null
    order by n.received_at limit $1 for update skip locked) parked`;

const FORWARD = sql('forward-parked-notifications')`with parked as materialized (
    select i."deliveryId", n.*
    from json_to_recordset($1::json) as i("merchantId" text, "requestId" text, "deliveryId" uuid)
    join notification n on n.merchant_id = any (array[i."merchantId"]) and n.request_id = any (array[i."requestId"])
  ),
  unparked as (
    update notification n set parked_signature = null from parked p
    where n.merchant_id = any (array[p.merchant_id]) and n.request_id = any (array[p.request_id])
  )
  ${insertForwards({ id: '"deliveryId"', signature: 'parked_signature', at: '$2', from: 'parked' })}`;
