import type { HoldBooks } from '../../domain/hold.ts';
import { byIndex } from '../by-index.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS } from '../hold/read-holds.ts';
import {
  APPEND_OPERATIONS,
  type OperationInput,
  type Settled,
  settled,
  settledBy,
} from '../operation/operation-log.ts';
import { BOOK_CHANGED, booksAsText } from './settle-captures.ts';

/** A capture that the card scheme took back. */
export interface Reversal {
  readonly captureRequestId: string;
  readonly holdRequestId: string;
  /** The hold's, as `books` were reckoned. */
  readonly version: string;
  readonly at: string;
  readonly books: HoldBooks;
  readonly operation: OperationInput;
}

/**
 * Books a reversal. A capture that is not OK, or was reversed before, and one whose hold is locked or has changed, is left as it is.
 */
export async function reverseCapture(query: Query, reversal: Reversal): Promise<Settled> {
  return settled(await query(REVERSE_CAPTURE, [booksAsText([reversal])]));
}

const REVERSE_CAPTURE: Statement = {
  name: 'reverse-capture',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("captureRequestId" uuid, "holdRequestId" uuid, version xid,
      at timestamptz, books json, operation json)
  ),
  ${LOCK_UNCHANGED_HOLDS},
  changed as (
    update capture c set reversed = true from locked i
    where ${byIndex('c.request_id', 'i."captureRequestId"')} and c.state = 'OK' and not c.reversed
    returning c.request_id as subject_id, i."holdRequestId", i.at, i.books, i.operation
  ),
  ${BOOK_CHANGED},
  ${APPEND_OPERATIONS}
  ${settledBy('"holdRequestId"')}`,
};
