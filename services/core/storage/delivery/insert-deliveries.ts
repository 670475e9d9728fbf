import { type Query, sql } from '../database.ts';
import { type EndpointKey, urlOf } from '../endpoint/endpoint-row.ts';

/** SQL that forwards the notifications of a table `from` to internal endpoints; id, signature and time are SQL. */
export function insertForwards({ id, signature, at, from }: Record<'id' | 'signature' | 'at' | 'from', string>) {
  return `insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, signature, state,
    attempt_count, due_at, created_at)
  select ${id}, merchant_id, 'internal', request_id, kind, status_info, body, ${signature}, 'PENDING', 0, ${at}, ${at}
    from ${from}
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
