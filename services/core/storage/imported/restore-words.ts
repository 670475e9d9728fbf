import { type Query, sql } from '../database.ts';
import type { NewRow } from '../input-columns.ts';
import type { SubmissionRow } from '../submission/submission-row.ts';

/**
 * Stores what a merchant said of an operation that was imported without it, as a repetition of its request says it.
 * Nothing else is changed: not its result, which was told, and no operation that was not imported.
 */
export async function restoreWords(
  query: Query,
  requestId: string,
  { merchantReference, metadata, reason }: NewRow<SubmissionRow, 'merchantReference' | 'metadata' | 'reason'>,
): Promise<void> {
  const words = [merchantReference ?? null, metadata ?? null, reason ?? null];
  if (words.some((word) => word !== null)) await query(RESTORE_WORDS, [requestId, ...words]);
}

/** The processor's books always have the reference of a hold. */
const RESTORE_WORDS = sql('restore-words')`with imported_now as (
    select request_id from imported where request_id = $1 and what = 'OPERATION'
  ),
  of_hold as (
    update hold set metadata = $3 where request_id in (select request_id from imported_now) and metadata is null
  )
  update submission set merchant_reference = coalesce(merchant_reference, $2), metadata = coalesce(metadata, $3),
      reason = coalesce(reason, $4)
    where request_id in (select request_id from imported_now)`;
