import { type Query, sql } from '../database.ts';

/** A mark that something was imported from a processor's books after the database went back in time. */
export interface ImportedMark {
  /** Of a hold or submission. */
  readonly requestId: string;
  /**
   * OPERATION = it itself; it has the processor's own fields. TAKEN_BACK = what the card scheme took back of it, so an
   * event about that may be one whose report was lost.
   */
  readonly what: 'OPERATION' | 'TAKEN_BACK';
  readonly merchantId: string;
}

/** Marks operations that are about to be imported, before they are stored, so that they are never taken for others. */
export async function markImported(query: Query, marks: readonly ImportedMark[], at: Date): Promise<void> {
  if (marks.length > 0) await query(MARK, [JSON.stringify(marks), at]);
}

const MARK = sql('mark-imported')`insert into imported (request_id, what, merchant_id, imported_at)
    select "requestId", what, "merchantId", $2
    from json_to_recordset($1::json) as i("requestId" uuid, what text, "merchantId" text) on conflict do nothing`;

/** Returns whether an operation was imported. */
export async function isImported(query: Query, requestId: string, what: ImportedMark['what']): Promise<boolean> {
  return (await query(FIND, [requestId, what])).length > 0;
}

const FIND = sql('find-imported-part')`select what from imported where request_id = $1 and what = $2`;
