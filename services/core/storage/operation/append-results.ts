import { byIndex } from '../by-index.ts';
import { ADVISORY_LOCKS } from '../database.ts';
import type { DeliveryRow } from '../delivery/delivery-row.ts';
import { furtherDeliveryId, wants } from '../endpoint/fan-out.ts';
import { inputColumns, type NewRow } from '../input-columns.ts';
import type { OperationRow } from './operation-row.ts';

/**
 * The appended columns of a result, with their types, without its positions in the log and among the results of its
 * hold.
 */
const COLUMNS = {
  requestId: 'uuid',
  kind: 'text',
  status: 'text',
  statusInfo: 'text',
  merchantId: 'text',
  terminalId: 'text',
  userId: 'text',
  amount: 'bigint',
  currency: 'text',
  holdRequestId: 'uuid',
  captureRequestId: 'uuid',
  refundRequestId: 'uuid',
  octRequestId: 'uuid',
  correctsRequestId: 'uuid',
  processorReference: 'text',
  bankReference: 'text',
  processorCode: 'text',
  processorMessage: 'text',
  merchantReference: 'text',
  metadata: 'jsonb',
  reason: 'text',
  finalStateDate: 'timestamptz',
  statusAfter: 'text',
  phaseAfter: 'text',
  amountAfter: 'bigint',
  capturedAfter: 'bigint',
  remainingAfter: 'bigint',
  releasedAfter: 'bigint',
  refundedAfter: 'bigint',
  reversedAfter: 'bigint',
  expiresAtAfter: 'timestamptz',
  guaranteedUntilAfter: 'timestamptz',
  bodyForm: 'smallint',
} as const satisfies Partial<Record<keyof OperationRow, string>>;

/** A final result, as the log takes it. */
export type ResultInput = NewRow<OperationRow, keyof typeof COLUMNS> & {
  /** The row of the statement that this result belongs to; it is written only when that row was. */
  readonly subjectId: string;
  /** The notification about it; absent = nobody asked for one. */
  readonly delivery?: DeliveryInput | undefined;
};

const RESULT = inputColumns(COLUMNS);

/** `id` is that of the delivery to the webhook. */
export interface DeliveryInput extends Pick<DeliveryRow, 'id' | 'kind'> {
  /** The body, as text, a JSON object; `sequence` and `position` are appended to it. */
  readonly body: string;
  /** W3C traceparent of its cause, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** SQL: how many notifications the result of a row `c` makes; counted without a webhookUrl, too. */
export const NOTIFIED = `case when c.operation->'delivery' is null then 0 else 1 end`;

/**
 * SQL that ends a statement `with changed as (… returning … as subject_id, i.operation, "holdSequence") …`: appends the
 * results of the changed rows (JSON, ResultInput or null), and their deliveries: to the webhook, when the merchant has
 * a webhookUrl, and to each further endpoint that asks for their type. Only here are the two numbers of a notification
 * known: its position among those of its hold ("holdSequence", NOTIFIED), and the position of its result in the log.
 *
 * The statement itself sees which endpoints there are, so one that was there before the operation misses nothing.
 *
 * Numbers are given in commit order: the advisory lock is taken after the row locks, just before the first number, and
 * held until commit, so no smaller number can appear later. The statement is its own transaction and commits without
 * waiting for the client, so a frozen client delays nobody. A reader with a cursor on `sequence` therefore misses
 * nothing. Measured with 8 writers: 0 rows missed or out of order; a plain sequence loses a fifth of them.
 */
export const APPEND_RESULTS = `result as materialized (
    select c."holdSequence", r.* from changed c cross join lateral json_to_record(c.operation) as r(delivery json,
      ${RESULT.definitions})
    where c.operation is not null
  ),
  ordered as materialized (
    select pg_advisory_xact_lock(${ADVISORY_LOCKS.operationOrder}) from (select count(*) from result) counted
      where count > 0
  ),
  appended as (
    insert into operation (sequence, hold_sequence,
      ${RESULT.table})
    select nextval('operation_sequence_seq'), case when delivery is not null then "holdSequence" end,
      ${RESULT.values}
    from ordered, result
    returning sequence, request_id
  ),
  delivered as (
    insert into delivery (id, merchant_id, endpoint_kind, request_id, kind, status_info, body, state, attempt_count,
      due_at, created_at, trace_parent)
    select endpoint.delivery_id, r."merchantId", endpoint.id, r."requestId"::text, d.kind, r."statusInfo",
      convert_to(concat(left(d.body, -1), ',"sequence":' || r."holdSequence", ',"position":' || a.sequence, '}'),
      'UTF8'), 'PENDING', 0, r."finalStateDate", r."finalStateDate", d."traceParent"
    from result r join appended a on a.request_id = r."requestId"
    cross join lateral json_to_record(r.delivery) as d(id uuid, kind text, body text, "traceParent" text)
    join merchant m on ${byIndex('m.id', 'r."merchantId"')}
    cross join lateral (
      select 'webhook' as id, d.id as delivery_id where m.webhook_url is not null
      union all
      select w.id, ${furtherDeliveryId('d.id')} from webhook_endpoint w
      where m.has_endpoints and ${byIndex('w.merchant_id', 'm.id')} and w.id like 'webhook-%'
        and ${wants('w', 'd.kind', 'r."statusInfo"')}
    ) endpoint
    where r.delivery is not null
    returning request_id, endpoint_kind
  )`;
