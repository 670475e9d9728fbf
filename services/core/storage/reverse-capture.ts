import type { HoldBooks } from '../domain/hold.ts';
import { byIndex } from './by-index.ts';
import { camelCased } from './camel-cased.ts';
import type { CaptureRow } from './capture.ts';
import type { Query, Statement } from './database.ts';
import { APPEND_OPERATIONS, type OperationInput, SETTLED, type Settled, settled } from './operation-log.ts';
import { BOOK_CHANGED, booksAsText } from './settle-captures.ts';

/** A capture that the card scheme took back; its hold is locked by this transaction. */
export interface Reversal {
  readonly captureRequestId: string;
  readonly holdRequestId: string;
  readonly at: string;
  readonly books: HoldBooks;
  readonly operation: OperationInput;
}

/** Books a reversal. A capture that is not OK, or was reversed before, changes nothing. */
export async function reverseCapture(query: Query, reversal: Reversal): Promise<Settled> {
  return settled(await query(REVERSE_CAPTURE, [booksAsText([reversal])]));
}

/** Looks up a capture. */
export async function findCapture(query: Query, requestId: string): Promise<CaptureRow | undefined> {
  const [row] = await query<object>(FIND_CAPTURE, [requestId]);
  return row && camelCased<CaptureRow>(row);
}

const FIND_CAPTURE: Statement = { name: 'find-capture', text: 'select * from capture where request_id = $1' };

const REVERSE_CAPTURE: Statement = {
  name: 'reverse-capture',
  text: `with input as materialized (
    select * from json_to_recordset($1::json) as i("captureRequestId" uuid, "holdRequestId" uuid, at timestamptz, books json,
      operation json)
  ),
  changed as (
    update capture c set reversed = true from input i
    where ${byIndex('c.request_id', 'i."captureRequestId"')} and c.state = 'OK' and not c.reversed
    returning c.request_id as subject_id, i."holdRequestId", i.at, i.books, i.operation
  ),
  ${BOOK_CHANGED},
  ${APPEND_OPERATIONS}
  ${SETTLED}`,
};
