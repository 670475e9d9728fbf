import { type AtProcessor, isAtProcessor, type Search } from '../at-processor.ts';
import { type Query, sql } from '../database.ts';
import { IS_NOT_RECONCILING } from '../reconciling.ts';
import type { HoldRow } from './hold-row.ts';

/** A placed hold whose period is over, or whose authorization ended at the processor. */
export type DueHold = Pick<HoldRow, 'requestId' | 'idHash' | 'endedAs'>;

/** SQL: open holds with nothing in flight, without those left out. */
const IDLE = `select request_id, id_hash, ended_as from hold
    where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and in_flight = 0
      and not closing and request_id <> all ($5::uuid[]) and ${isAtProcessor('$3', '$4')}`;

/**
 * Finds what is due to end, those due longest first, about half of `limit` of each sort at most; none while the
 * database is being reconciled.
 */
export function findDueHolds(query: Query, { now, limit, but }: Search, at: AtProcessor): Promise<DueHold[]> {
  return query<DueHold>(FIND_DUE, [now, Math.ceil(limit / 2), at.only, at.butNot, but]);
}

const FIND_DUE = sql('find-due-holds')`select * from (
    (${IDLE} and changing is null and ended_as is null and expires_at <= $1 order by expires_at limit $2)
    union all
    (${IDLE} and changing is null and ended_as is null and release_at <= $1 and expires_at > $1
      order by release_at limit $2)
    union all
    (${IDLE} and changing is null and ended_as is not null order by request_id limit $2)
  ) due where ${IS_NOT_RECONCILING}`;

/**
 * Finds holds that are due to capture what remains, those due longest first. One that is frozen, or has something in
 * flight, waits; all of them wait while the database is being reconciled.
 */
export function findHoldsToCapture(query: Query, { now, limit, but }: Search, at: AtProcessor): Promise<DueHold[]> {
  return query<DueHold>(FIND_TO_CAPTURE, [now, limit, at.only, at.butNot, but]);
}

const FIND_TO_CAPTURE = sql('find-holds-to-capture')`${IDLE}
      and changing is distinct from 'INCREMENT' and not frozen and ended_as is null and auto_capture_id is null
      and capture_at <= $1 and expires_at > $1 and (release_at is null or release_at > $1) and ${IS_NOT_RECONCILING}
    order by capture_at limit $2`;
