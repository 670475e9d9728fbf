import type { Query, Statement } from '../../../platform/adapter/postgres/database.ts';

/** What Stripe announced: that something happened to an object. What it is now must be asked for. */
export interface Notice {
  readonly eventId: string;
  readonly type: string;
  /** Stripe's account id; empty = the API key's own. */
  readonly account: string;
  /** A PaymentIntent `pi_…` or Checkout Session `cs_…`. */
  readonly objectId: string;
}

const INSERT: Statement = {
  name: 'insert_notice',
  text: `INSERT INTO stripe.notice (event_id, type, account, object_id) VALUES ($1, $2, $3, $4)
    ON CONFLICT (event_id) DO NOTHING RETURNING event_id`,
};

/** Stores a notice; false when it came before. */
export async function insertNotice(query: Query, { eventId, type, account, objectId }: Notice): Promise<boolean> {
  return (await query(INSERT, [eventId, type, account, objectId])).length > 0;
}

const TAKE: Statement = {
  name: 'take_due_notices',
  text: `UPDATE stripe.notice SET attempts = attempts + 1,
      due_at = now() + least(300, 2 ^ least(attempts, 9)) * interval '1 s' + interval '20 s'
    WHERE event_id IN (SELECT event_id FROM stripe.notice WHERE done_at IS NULL AND due_at <= now()
      ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING event_id AS "eventId", type, account, object_id AS "objectId"`,
};

/** Takes due notices. They are put off meanwhile, ever longer: a crash in between looks again, not never. */
export function takeDueNotices(query: Query, limit: number): Promise<Notice[]> {
  return query<Notice>(TAKE, [limit]);
}

const RETRY: Statement = {
  name: 'retry_notice',
  text: `UPDATE stripe.notice SET due_at = now() + least(300, 2 ^ least(attempts, 9)) * interval '1 s' WHERE event_id = $1`,
};
const DONE: Statement = {
  name: 'finish_notice',
  text: `UPDATE stripe.notice SET done_at = now() WHERE event_id = $1`,
};

/** Says whether a notice was dealt with. */
export async function settleNotice(query: Query, eventId: string, isDone: boolean): Promise<void> {
  await query(isDone ? DONE : RETRY, [eventId]);
}

const PURGE: Statement = {
  name: 'purge_notices',
  text: `DELETE FROM stripe.notice WHERE done_at < now() - interval '40 days'`,
};

/** Forgets old notices: Stripe repeats an event for days, and can be asked to for 30. */
export async function purgeNotices(query: Query): Promise<void> {
  await query(PURGE, []);
}
