import { AGAIN } from '../../../../platform/gather.ts';
import type { SubmissionTable } from '../../domain/kinds.ts';
import { byIndex } from '../by-index.ts';
import { SUBMISSION_TABLES } from './submissions.ts';

/** SQL of a condition: some operation has this requestId already. `value` is a column. */
export function isKnownRequest(value: string): string {
  return `(${SUBMISSION_TABLES.map((table) => `exists (select from ${table} k where ${byIndex('k.request_id', value)})`).join(' or ')})`;
}

/** Why a new operation was not stored: its key or its requestId is taken, or its caller's deadline is over. */
export type NotStored = 'KEY_TAKEN' | 'REPEATED' | 'LATE';

/** SQL that ends an insertion into a table: what became of each row of `input` (columns late, known and "sentAs"), given `claimed` keys and `stored` rows. */
export function insertionOutcomes(table: SubmissionTable): string {
  return `select i."requestId"::text as id, ${sentAs(table)}, case
    when i."requestId" in (select request_id from stored) then 'STORED'
    when i.known then 'REPEATED'
    when i.late then 'LATE'
    when i.met or i.key is not null and i."requestId" not in (select request_id from claimed) then 'KEY_TAKEN'
    else 'AGAIN' end as outcome
  from input i`;
}

/** SQL of a column `sent_as`: the identifier at the processor of what row `i` of `input` has stored, or has stored before. */
export function sentAs(table: SubmissionTable): string {
  return `case when i.known then (select k.processor_request_id from ${table} k where ${byIndex('k.request_id', 'i."requestId"')})
      else i."sentAs" end as sent_as`;
}

/** What became of storing a new operation. */
export interface Stored<Outcome extends string> {
  readonly outcome: Outcome | NotStored;
  /** Its identifier at the processor; null = its requestId. */
  readonly processorRequestId: string | null;
}

/** Reads `insertionOutcomes()`, in the order of the requestIds. */
export function readOutcomes(
  rows: readonly { id: string; outcome: 'STORED' | typeof AGAIN | NotStored; sent_as: string | null }[],
  requestIds: readonly string[],
): (Stored<'STORED'> | typeof AGAIN)[] {
  const outcomes = new Map(rows.map((row) => [row.id, row]));
  return requestIds.map((requestId) => {
    const row = outcomes.get(requestId);
    if (row === undefined || row.outcome === AGAIN) return AGAIN;
    return { outcome: row.outcome, processorRequestId: row.sent_as };
  });
}
