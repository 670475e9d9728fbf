import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ReportEventRequestSchema } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { EventMessage } from '../event-reporter.ts';
import { backoffMs, type Outbox, putOffMs } from '../report.ts';
import type { Query, Statement } from './database.ts';

/** An event before it is stored; `requestId` is what it is about. */
interface EventInit {
  readonly eventId: string;
  readonly requestId: string;
  readonly occurredAt: Date;
  readonly event: NonNullable<EventMessage['event']>;
}

/** The table of events of a ledger in a schema: what core must hear of, as the bytes of a ReportEventRequest. */
export function eventTable(schema: string): string {
  return `
CREATE TABLE ${schema}.event (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id text NOT NULL UNIQUE,
  request_id uuid NOT NULL,
  message bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  reported_at timestamptz
);
CREATE INDEX event_due ON ${schema}.event (due_at) WHERE reported_at IS NULL;
`;
}

/** Stores an event in the transaction of what it reports; one that is known stays as it is. */
export function eventInserter(schema: string): (query: Query, event: EventInit) => Promise<void> {
  const statement: Statement = {
    name: 'insert_event',
    text: `INSERT INTO ${schema}.event (event_id, request_id, message) VALUES ($1, $2, $3)
      ON CONFLICT (event_id) DO NOTHING`,
  };
  return async (query, { eventId, requestId, occurredAt, event }) => {
    const init = { eventId, occurredAt: timestampFromDate(occurredAt), event };
    const message = toBinary(ReportEventRequestSchema, create(ReportEventRequestSchema, init));
    await query(statement, [eventId, requestId, Buffer.from(message)]);
  };
}

interface Row {
  readonly eventId: string;
  readonly requestId: string;
  readonly message: Buffer;
  readonly attempts: number;
}

/** The outbox of a ledger. */
export function openOutbox(query: Query, schema: string): Outbox {
  const take: Statement = {
    name: 'take_due_events',
    text: `UPDATE ${schema}.event SET attempts = attempts + 1,
        due_at = now() + ($2::integer[])[least(attempts + 1, cardinality($2::integer[]))] * interval '1 ms'
      WHERE sequence IN (SELECT sequence FROM ${schema}.event WHERE reported_at IS NULL AND due_at <= now()
        ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
      RETURNING event_id AS "eventId", request_id AS "requestId", message, attempts`,
  };
  const retry: Statement = {
    name: 'retry_event',
    text: `UPDATE ${schema}.event SET due_at = now() + $2 * interval '1 ms'
      WHERE event_id = $1 AND reported_at IS NULL`,
  };
  const reported: Statement = {
    name: 'reported_event',
    text: `UPDATE ${schema}.event SET reported_at = now() WHERE event_id = $1`,
  };
  return {
    async takeDue(limit) {
      const rows = await query<Row>(take, [limit, WAITS]);
      return rows.map((row) => ({ ...row, message: fromBinary(ReportEventRequestSchema, row.message) }));
    },
    async settle({ eventId, attempts }, isReported) {
      await (isReported ? query(reported, [eventId]) : query(retry, [eventId, backoffMs(attempts)]));
    },
  };
}

/** By the number of the attempt; the last stands for all further ones. */
const WAITS = Array.from({ length: 10 }, (_, index) => putOffMs(index + 1));
