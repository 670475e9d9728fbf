import { byIndex } from '../by-index.ts';
import { type Query, sql } from '../database.ts';
import { type EndpointKey, urlOf } from '../endpoint/endpoint-row.ts';
import { furtherDeliveryId, internalEndpoints } from '../endpoint/fan-out.ts';

/**
 * SQL that forwards the notifications of a table `from` to the internal endpoints that ask for them. `id` is the id of
 * the first delivery of each; id, signature and time are SQL.
 */
export function insertForwards({ id, signature, at, from }: Record<'id' | 'signature' | 'at' | 'from', string>) {
  return `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, state,
    attempt_count, due_at, created_at, relayed_headers)
  select case when endpoint.place = 1 then ${id}::uuid else ${furtherDeliveryId(`${id}::uuid`)} end, merchant_id, endpoint.id,
      request_id, kind, status_info, body, ${signature}, 'PENDING', 0, ${at}, ${at}, relayed_headers
    from ${from} f
    join merchant m on ${byIndex('m.id', 'f.merchant_id')}
    cross join lateral (select id, row_number() over () as place from (
      ${internalEndpoints('m', 'f.kind', 'f.status_info')}) of_merchant) endpoint
  returning merchant_id, endpoint_kind as endpoint_id`;
}

interface TestDelivery extends EndpointKey {
  readonly id: string;
  readonly requestId: string;
  readonly body: string;
  readonly at: Date;
}

/** Stores a test delivery to an endpoint, due at once. Returns false when the merchant has no such endpoint. */
export async function insertTestDelivery(query: Query, test: TestDelivery): Promise<boolean> {
  const { id, merchantId, endpointId, requestId, body, at } = test;
  return (await query(INSERT_TEST_DELIVERY, [id, merchantId, requestId, body, at, endpointId])).length === 1;
}

const INSERT_TEST_DELIVERY = sql('insert-test-delivery')`
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at)
    select $1, m.id, $6, $3, 'payment', 'test', convert_to($4, 'UTF8'), 'PENDING', 0, $5, $5
    from merchant m where m.id = $2 and ${urlOf('m', '$6')} is not null
    returning id`;
