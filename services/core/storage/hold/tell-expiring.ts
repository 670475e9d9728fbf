import { byTurns, unindexed } from '../by-turns.ts';
import { type Query, sql } from '../database.ts';
import { APPEND_RESULTS, type ResultInput } from '../operation/append-results.ts';
import { done, type Settled, settleEach } from '../submission/settle-submissions.ts';
import { versionOf } from './hold-version.ts';
import type { ReadHold } from './read-holds.ts';

/** SQL: the hold renews itself before its authorization ends. */
const RENEWS_BEFORE = `(not s.frozen and s.renew_at < coalesce(s.guaranteed_until, s.expires_at)) is true`;

/** Finds holds with something left whose merchants are to be notified that they end soon. */
export const findExpiring = byTurns<ReadHold>({
  name: 'find-expiring',
  table: 'hold',
  index: `s.notify_expiring_at is not null and s.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')
      and s.phase = 'AUTHORIZED'`,
  due: 'notify_expiring_at',
  select: `s.*, ${versionOf('s')} as version`,
  where: `s.remaining > 0 and s.ended_as is null and not ${RENEWS_BEFORE} and ${unindexed('s.expires_at > $1')}
      and (s.release_at is null or s.release_at > $1)`,
});

/** A notice, and the hold as it was read. */
export interface ExpiringInput {
  readonly requestId: string;
  readonly holdRequestId: string;
  readonly version: string;
  readonly operation: ResultInput;
}

/** Stores a notice and its notification, once, if the hold is still as it was read. */
export function tellExpiring(query: Query, input: ExpiringInput): Promise<Settled> {
  return settleEach(query, TELL_EXPIRING, [input]);
}

const TELL_EXPIRING = sql('tell-expiring')`with input as materialized (
    select * from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, version text, operation json)
  ),
  locked as materialized (
    select i.*, h.notification_count + 1 as "holdSequence" from input i
      join hold h on h.request_id = any (array[i."holdRequestId"])
    where ${versionOf('h')} = i.version for no key update of h skip locked
  ),
  changed as (
    update hold h set notify_expiring_at = null, notify_expiring_hours = null,
      notification_count = h.notification_count + 1
    from locked c where h.request_id = any (array[c."holdRequestId"])
    returning c."requestId" as subject_id, c.*
  ),
  ${APPEND_RESULTS}
  ${done()}`;
