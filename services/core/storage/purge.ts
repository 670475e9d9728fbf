import { byIndex } from './by-index.ts';
import { KEY_DAYS } from './claim/key-identifier.ts';
import { type Database, sql } from './database.ts';
import { dropPartitions, untilNone } from './partitions.ts';

/** For how many days rows are kept. */
export interface RetentionDays {
  /** Deliveries, their attempts, bodies that the relay accepted, generated tokens. */
  readonly notifications: number;
  /** The log of results. */
  readonly operations: number;
}

/**
 * Opens the job that drops the partitions that are older than the retention, with all their rows but deliveries that
 * wait for an attempt. It empties the bodies that the relay accepted, whose keys detect duplicates for ever, and
 * deletes tokens that checkouts generated. It forgets idempotency keys of settled operations after a week, nonces when
 * their signatures have expired, ended sessions a day after they would have expired, and what was counted on the limits
 * of past days. A run returns the number of
 * rows changed and partitions dropped.
 */
export function openPurge(database: Database, days: RetentionDays): (now: Date) => Promise<number> {
  const { query } = database;
  return async (now) => {
    const daysAgo = (count: number) => new Date(now.getTime() - count * DAY_MS);
    const before = daysAgo(days.notifications);
    let changed = 0;
    changed += await untilNone(query, EMPTY_NOTIFICATIONS, [before]);
    changed += await untilNone(query, EMPTY_QUARANTINED, [before]);
    changed += await untilNone(query, FORGET_TOKENS, [before]);
    changed += await untilNone(query, FORGET_KEYS, [daysAgo(KEY_DAYS)]);
    changed += await untilNone(query, REMOVE_NONCES, [now]);
    changed += await untilNone(query, REMOVE_ENDED_SESSIONS, [daysAgo(1)]);
    changed += await untilNone(query, REMOVE_SPENT, [daysAgo(SPENT_DAYS)]);
    const retention = { delivery: before, delivery_attempt: before, operation: daysAgo(days.operations) };
    return changed + (await dropPartitions(database, retention));
  };
}

const DAY_MS = 86_400_000;

/** For how many days it is kept what was counted on limits. Only operations that are imported are counted on past days. */
const SPENT_DAYS = 7;

const EMPTY_NOTIFICATIONS = sql('empty-notifications')`update notification set body = null, parked_signature = null
    where (merchant_id, request_id) in (
      select merchant_id, request_id from notification where received_at < $1 and body is not null limit 1000)
    returning request_id`;

const EMPTY_QUARANTINED = sql('empty-quarantined')`update quarantined_notification set body = null where id in
    (select id from quarantined_notification where received_at < $1 and body is not null limit 1000) returning id`;

const FORGET_TOKENS = sql('forget-generated-tokens')`update hold set generated_token_id = null where request_id in
    (select request_id from hold where created_at < $1 and generated_token_id is not null limit 1000)
      returning request_id`;

/**
 * Cancelling a checkout appends no operation of its own; its release shows that it has ended. With a plain `=` each run
 * may read the whole log (measured: 300 000 holds, before the first ANALYZE).
 */
const FORGET_KEYS = sql('forget-idempotency-keys')`update claim set key = null where request_id in
    (select k.request_id from claim k
      where k.key is not null and k.created_at < $1
        and (exists (select from operation o where ${byIndex('o.request_id', 'k.request_id')})
        or exists (select from submission s where ${byIndex('s.request_id', 'k.request_id')}
          and s.state in ('OK', 'KO')))
      limit 1000)
    returning request_id`;

const REMOVE_NONCES = sql('remove-nonces')`delete from signature_nonce where (merchant_id, nonce) in
    (select merchant_id, nonce from signature_nonce where expires_at < $1 limit 1000) returning nonce`;

const REMOVE_ENDED_SESSIONS = sql('remove-ended-sessions')`delete from ended_session where session_hash in
    (select session_hash from ended_session where expires_at < $1 limit 1000) returning session_hash`;

const REMOVE_SPENT = sql('remove-spent')`delete from spent where (merchant_id, operation, currency, day, part) in
    (select merchant_id, operation, currency, day, part from spent where day < ($1 at time zone 'UTC')::date limit 1000)
    returning day`;
