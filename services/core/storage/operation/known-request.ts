import { byIndex } from '../by-index.ts';
import { SUBMISSION_TABLES } from './submissions.ts';

/** SQL of a condition: some operation has this requestId already. `value` is a column. */
export function isKnownRequest(value: string): string {
  return `(${SUBMISSION_TABLES.map((table) => `exists (select from ${table} k where ${byIndex('k.request_id', value)})`).join(' or ')})`;
}

/** Why a new operation was not stored: its key or its requestId is taken, or its caller's deadline is over. */
export type NotStored = 'KEY_TAKEN' | 'REPEATED' | 'LATE';

/** SQL that ends an insertion: what became of each row of `input` (columns late and known), given `claimed` keys and `stored` rows. */
export const INSERTION_OUTCOMES = `select i."requestId"::text as id, case
    when i."requestId" in (select request_id from stored) then 'STORED'
    when i.known then 'REPEATED'
    when i.late then 'LATE'
    when i.key is not null and i."requestId" not in (select request_id from claimed) then 'KEY_TAKEN'
    else 'AGAIN' end as outcome
  from input i`;
