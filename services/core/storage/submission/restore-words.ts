import { type Query, sql } from '../database.ts';
import type { NewRow } from '../input-columns.ts';
import type { SubmissionRow } from './submission-row.ts';

/**
 * Stores what a merchant said of a submission that was imported without it, as a repetition of its request says it. Its
 * result, which was told, stays as it is.
 */
export async function restoreWords(
  query: Query,
  requestId: string,
  { merchantReference, metadata, reason }: NewRow<SubmissionRow, 'merchantReference' | 'metadata' | 'reason'>,
): Promise<void> {
  const words = [merchantReference ?? null, metadata ?? null, reason ?? null];
  if (words.some((word) => word !== null)) await query(RESTORE_WORDS, [requestId, ...words]);
}

const RESTORE_WORDS = sql('restore-words')`update submission
    set merchant_reference = coalesce(merchant_reference, $2), metadata = coalesce(metadata, $3),
      reason = coalesce(reason, $4)
    where request_id = $1
      and exists (select from imported i where i.request_id = $1 and i.what = 'OPERATION')`;
