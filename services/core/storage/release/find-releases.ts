import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { ReleaseRow } from './release.ts';

/** Looks up a release. */
export async function findRelease(query: Query, requestId: string): Promise<ReleaseRow | undefined> {
  const [row] = await query<object>(FIND_RELEASE, [requestId]);
  return row && camelCased<ReleaseRow>(row);
}

/** Whether the authorization of a failed hold is being given back, or was. */
export async function hasLateVoid(query: Query, holdRequestId: string): Promise<boolean> {
  return (await query(FIND_LATE_VOID, [holdRequestId])).length > 0;
}

const FIND_LATE_VOID: Statement = {
  name: 'find-late-void',
  text: `select request_id from release where hold_request_id = $1 and reason = 'LATE' and state <> 'KO'`,
};

const FIND_RELEASE: Statement = { name: 'find-release', text: 'select * from release where request_id = $1' };
