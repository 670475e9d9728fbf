import { NIL } from 'uuid';
import { KEY_DAYS } from './claim/key-identifier.ts';
import type { Database, Statement } from './database.ts';
import { lowestIdAt } from './id-bounds.ts';

/**
 * Opens the job that purges old data. After `retentionDays` it empties the bodies of notifications and what endpoints answered to them,
 * and deletes tokens that checkouts generated; deliveries and the keys that detect duplicates stay. It forgets idempotency keys of
 * settled operations after a week, nonces when their signatures have expired, and ended sessions a day after they would have expired. A
 * run returns the number of rows changed.
 */
export function openPurge(database: Database, retentionDays: number): (now: Date) => Promise<number> {
  let cursor: string = NIL;
  return async (now) => {
    const before = new Date(now.getTime() - retentionDays * DAY_MS);
    const keysBefore = new Date(now.getTime() - KEY_DAYS * DAY_MS);
    let changed = 0;
    for (;;) {
      const [page] = await database.query<{ last: string | null; emptied: bigint }>(EMPTY_DELIVERIES, [
        cursor,
        lowestIdAt(before.getTime()),
      ]);
      if (!page?.last) break;
      cursor = page.last;
      changed += Number(page.emptied);
    }
    changed += await untilNone(database, EMPTY_NOTIFICATIONS, [before]);
    changed += await untilNone(database, EMPTY_QUARANTINED, [before]);
    changed += await untilNone(database, FORGET_TOKENS, [before]);
    changed += await untilNone(database, FORGET_KEYS, [keysBefore]);
    changed += await untilNone(database, REMOVE_NONCES, [now]);
    changed += await untilNone(database, REMOVE_ENDED_SESSIONS, [new Date(now.getTime() - DAY_MS)]);
    return changed;
  };
}

/** Repeats a small statement until it changes nothing, so that no statement holds many locks for long. */
async function untilNone(database: Database, statement: Statement, values: readonly unknown[]): Promise<number> {
  let changed = 0;
  for (;;) {
    const rows = await database.query(statement, values);
    if (rows.length === 0) return changed;
    changed += rows.length;
  }
}

const DAY_MS = 86_400_000;

/**
 * Reads deliveries in the order of their ids, which is that of their creation, so that no index on time is needed; a worker reads purged
 * ones once, after its start. A pending delivery keeps its body, which the first run of the next worker empties.
 */
const EMPTY_DELIVERIES: Statement = {
  name: 'empty-deliveries',
  text: `with page as (select id from delivery where id > $1 and id < $2 order by id limit 5000),
    emptied as (update delivery set body = null
      where id in (select id from page) and state <> 'PENDING' and body is not null returning id),
    answers as (update delivery_attempt set response_head = null
      where delivery_id in (select id from emptied) and response_head is not null)
    select (select id from page order by id desc limit 1) as last, (select count(*) from emptied) as emptied`,
};

const EMPTY_NOTIFICATIONS: Statement = {
  name: 'empty-notifications',
  text: `update notification set body = null, parked_signature = null where (merchant_id, request_id) in
    (select merchant_id, request_id from notification where received_at < $1 and body is not null limit 1000)
    returning request_id`,
};

const EMPTY_QUARANTINED: Statement = {
  name: 'empty-quarantined',
  text: `update quarantined_notification set body = null where id in
    (select id from quarantined_notification where received_at < $1 and body is not null limit 1000) returning id`,
};

const FORGET_TOKENS: Statement = {
  name: 'forget-generated-tokens',
  text: `update hold set generated_token_id = null where request_id in
    (select request_id from hold where created_at < $1 and generated_token_id is not null limit 1000) returning request_id`,
};

/** Cancelling a checkout appends no operation of its own; its release shows that it has ended. */
const FORGET_KEYS: Statement = {
  name: 'forget-idempotency-keys',
  text: `update claim set key = null where request_id in
    (select k.request_id from claim k
      where k.key is not null and k.created_at < $1 and (exists (select from operation o where o.request_id = k.request_id)
        or exists (select from submission s where s.request_id = k.request_id and s.state in ('OK', 'KO')))
      limit 1000)
    returning request_id`,
};

const REMOVE_NONCES: Statement = {
  name: 'remove-nonces',
  text: `delete from signature_nonce where (merchant_id, nonce) in
    (select merchant_id, nonce from signature_nonce where expires_at < $1 limit 1000) returning nonce`,
};

const REMOVE_ENDED_SESSIONS: Statement = {
  name: 'remove-ended-sessions',
  text: `delete from ended_session where session_hash in
    (select session_hash from ended_session where expires_at < $1 limit 1000) returning session_hash`,
};
