import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ReportEventRequestSchema } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { EventMessage } from '../event-reporter.ts';
import { backoffMs, type Outbox, putOffMs } from '../report.ts';
import type { Query } from './database.ts';

/** An event before it is stored; `requestId` is what it is about. */
interface EventInit {
  readonly eventId: string;
  readonly requestId: string;
  readonly occurredAt: Date;
  readonly event: NonNullable<EventMessage['event']>;
}

/** Stores an event in the transaction of what it reports; one that is known stays as it is. */
export async function tell(query: Query, { eventId, requestId, occurredAt, event }: EventInit): Promise<void> {
  const init = { eventId, occurredAt: timestampFromDate(occurredAt), event };
  const message = toBinary(ReportEventRequestSchema, create(ReportEventRequestSchema, init));
  const text = `INSERT INTO event (event_id, request_id, message) VALUES ($1, $2, $3)
    ON CONFLICT (event_id) DO NOTHING`;
  await query(text, [eventId, requestId, Buffer.from(message)]);
}

interface Row {
  readonly eventId: string;
  readonly requestId: string;
  readonly message: Buffer;
  readonly attempts: number;
}

/**
 * Begins the identifiers of events about captures by somebody else. What follows of the authorization is reported after
 * core has taken one: an end that came first would say that what was charged was given back.
 */
export const FOREIGN_CAPTURE = 'foreign-';

/** The outbox of a ledger. */
export function openOutbox(query: Query): Outbox {
  return {
    async takeDue(limit) {
      const text = `UPDATE event SET attempts = attempts + 1,
          due_at = now() + ($2::integer[])[least(attempts + 1, cardinality($2::integer[]))] * interval '1 ms'
        WHERE sequence IN (SELECT sequence FROM event WHERE reported_at IS NULL AND due_at <= now()
            AND NOT EXISTS (SELECT FROM event AS charge WHERE charge.reported_at IS NULL
              AND charge.event_id LIKE '${FOREIGN_CAPTURE}%' AND charge.request_id = event.request_id
              AND charge.sequence < event.sequence)
          ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
        RETURNING event_id AS "eventId", request_id AS "requestId", message, attempts`;
      const rows = await query<Row>(text, [limit, WAITS]);
      return rows.map((row) => ({ ...row, message: fromBinary(ReportEventRequestSchema, row.message) }));
    },
    async settle({ eventId, attempts }, isReported) {
      if (isReported) await query('UPDATE event SET reported_at = now() WHERE event_id = $1', [eventId]);
      else await query(RETRY, [eventId, backoffMs(attempts)]);
    },
  };
}

const RETRY = `UPDATE event SET due_at = now() + $2 * interval '1 ms' WHERE event_id = $1 AND reported_at IS NULL`;

/** By the number of the attempt; the last stands for all further ones. */
const WAITS = Array.from({ length: 10 }, (_, index) => putOffMs(index + 1));
