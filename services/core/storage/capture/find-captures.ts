import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { CaptureRow } from './capture.ts';

/** Looks up a capture. */
export async function findCapture(query: Query, requestId: string): Promise<CaptureRow | undefined> {
  const [row] = await query<object>(FIND_CAPTURE, [requestId]);
  return row && camelCased<CaptureRow>(row);
}

const FIND_CAPTURE: Statement = { name: 'find-capture', text: 'select * from capture where request_id = $1' };

/** Lists the captures of a hold, oldest first. */
export async function listCaptures(query: Query, holdRequestId: string): Promise<CaptureRow[]> {
  return (await query<object>(LIST_CAPTURES, [holdRequestId])).map((row) => camelCased<CaptureRow>(row));
}

const LIST_CAPTURES: Statement = {
  name: 'list-captures',
  text: 'select * from capture where hold_request_id = $1 order by request_id',
};
