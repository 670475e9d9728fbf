import { type AtProcessor, isAtProcessor } from '../at-processor.ts';
import { readRows } from '../camel-cased.ts';
import { type Query, sql } from '../database.ts';
import { IS_NOT_RECONCILING } from '../reconciling.ts';
import type { HoldRow } from './hold-row.ts';

/** A placed hold whose period is over, or whose authorization ended at the processor. */
export type DueHold = Pick<
  HoldRow,
  'requestId' | 'idHash' | 'merchantId' | 'processor' | 'processorAccount' | 'processorRequestId' | 'endedAs'
>;

/**
 * Finds what is due to end, those due longest first, about half of `limit` of each sort at most; none while the
 * database is being reconciled. `but` are left out.
 */
export function findDueHolds(
  query: Query,
  { now, limit, but }: { readonly now: Date; readonly limit: number; readonly but: readonly string[] },
  at: AtProcessor,
): Promise<DueHold[]> {
  return readRows<DueHold>(query, FIND_DUE, [now, Math.ceil(limit / 2), at.only, at.butNot, but]);
}

const DUE = 'request_id, id_hash, merchant_id, processor, processor_account, processor_request_id, ended_as';

const FIND_DUE = sql('find-due-holds')`select * from (
    (select ${DUE} from hold
      where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and expires_at <= $1
        and ended_as is null and in_flight = 0 and not closing and changing is null and request_id <> all ($5::uuid[])
        and ${isAtProcessor('$3', '$4')}
      order by expires_at limit $2)
    union all
    (select ${DUE} from hold
      where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and release_at <= $1
        and expires_at > $1
        and ended_as is null and in_flight = 0 and not closing and changing is null and request_id <> all ($5::uuid[])
        and ${isAtProcessor('$3', '$4')}
      order by release_at limit $2)
    union all
    (select ${DUE} from hold
      where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and ended_as is not null
        and in_flight = 0 and not closing and changing is null and request_id <> all ($5::uuid[])
        and ${isAtProcessor('$3', '$4')}
      order by request_id limit $2)) due where ${IS_NOT_RECONCILING}`;

/**
 * Finds holds that are due to capture what remains, those due longest first. One that is frozen, or has something in
 * flight, waits; all of them wait while the database is being reconciled.
 */
export function findHoldsToCapture(
  query: Query,
  { now, limit, but }: { readonly now: Date; readonly limit: number; readonly but: readonly string[] },
  at: AtProcessor,
): Promise<DueHold[]> {
  return readRows<DueHold>(query, FIND_TO_CAPTURE, [now, limit, at.only, at.butNot, but]);
}

const FIND_TO_CAPTURE = sql('find-holds-to-capture')`select ${DUE} from hold
    where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and capture_at <= $1
      and auto_capture_id is null
      and ended_as is null and in_flight = 0 and not closing and changing is distinct from 'INCREMENT' and not frozen
      and expires_at > $1
      and (release_at is null or release_at > $1) and request_id <> all ($5::uuid[]) and ${isAtProcessor('$3', '$4')}
      and ${IS_NOT_RECONCILING}
    order by capture_at limit $2`;
