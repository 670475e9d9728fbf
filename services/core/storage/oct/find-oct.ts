import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { OctRow } from './oct.ts';

/** Looks up an OCT. */
export async function findOct(query: Query, requestId: string): Promise<OctRow | undefined> {
  const [row] = await query<object>(FIND_OCT, [requestId]);
  return row && camelCased<OctRow>(row);
}

const FIND_OCT: Statement = { name: 'find-oct', text: 'select * from oct where request_id = $1' };
