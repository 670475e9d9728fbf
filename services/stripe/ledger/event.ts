import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ReportEventRequestSchema } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Query, Statement } from './database.ts';

/** Something that core must hear of. */
export interface Event {
  readonly eventId: string;
  readonly requestId: string;
  /** A ReportEventRequest. */
  readonly message: Buffer;
  readonly attempts: number;
}

/** An event before it is stored; `requestId` is what it is about. */
export interface EventInit {
  readonly eventId: string;
  readonly requestId: string;
  readonly occurredAt: Date;
  readonly event: NonNullable<MessageInitShape<typeof ReportEventRequestSchema>['event']>;
}

const INSERT: Statement = {
  name: 'insert_event',
  text: `INSERT INTO stripe.event (event_id, request_id, message) VALUES ($1, $2, $3) ON CONFLICT (event_id) DO NOTHING`,
};

/** Stores an event; one that is known stays as it is. */
export async function insertEvent(query: Query, { eventId, requestId, occurredAt, event }: EventInit): Promise<void> {
  const init = { eventId, occurredAt: timestampFromDate(occurredAt), event };
  const message = toBinary(ReportEventRequestSchema, create(ReportEventRequestSchema, init));
  await query(INSERT, [eventId, requestId, Buffer.from(message)]);
}

const TAKE: Statement = {
  name: 'take_due_events',
  // Put off while they are reported: a crash in between reports them again, not never.
  text: `UPDATE stripe.event SET attempts = attempts + 1,
      due_at = now() + least(30, 0.2 * 2 ^ least(attempts, 8)) * interval '1 s' + interval '5 s'
    WHERE sequence IN (SELECT sequence FROM stripe.event WHERE reported_at IS NULL AND due_at <= now()
      ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING event_id AS "eventId", request_id AS "requestId", message, attempts`,
};

/** Takes due events for reporting. */
export function takeDueEvents(query: Query, limit: number): Promise<Event[]> {
  return query<Event>(TAKE, [limit]);
}

const RETRY: Statement = {
  name: 'retry_event',
  text: `UPDATE stripe.event SET due_at = now() + least(30, 0.2 * 2 ^ least(attempts, 8)) * interval '1 s'
    WHERE event_id = $1 AND reported_at IS NULL`,
};
const REPORTED: Statement = {
  name: 'reported_event',
  text: `UPDATE stripe.event SET reported_at = now() WHERE event_id = $1`,
};

/** Says how a report went. */
export async function settleEvent(query: Query, eventId: string, isReported: boolean): Promise<void> {
  await query(isReported ? REPORTED : RETRY, [eventId]);
}
