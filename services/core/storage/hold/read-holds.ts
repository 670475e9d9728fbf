import { byIndex } from '../by-index.ts';
import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { HoldRow } from './hold.ts';

/** A hold as it was read without a lock. */
export interface ReadHold extends HoldRow {
  /** Changes whenever the hold does: a statement that names it writes only if the hold is still as it was read. */
  readonly version: string;
}

/** Reads holds by requestId, without locking them. */
export async function readHolds(query: Query, requestIds: readonly string[]): Promise<ReadHold[]> {
  return (await query<object>(READ_BY_REQUEST_ID, [requestIds])).map((row) => camelCased<ReadHold>(row));
}

/** Looks up a hold by its requestId. */
export async function findHold(query: Query, requestId: string): Promise<HoldRow | undefined> {
  return (await readHolds(query, [requestId]))[0];
}

/** Looks up a hold by the hash of its preauthorizationId. */
export async function findHoldByHandle(query: Query, idHash: Buffer): Promise<HoldRow | undefined> {
  const [row] = await query<object>(READ_BY_HANDLE, [idHash]);
  return row && camelCased<HoldRow>(row);
}

const READ_BY_HANDLE: Statement = { name: 'read-hold-by-handle', text: 'select * from hold where id_hash = $1' };

const READ_BY_REQUEST_ID: Statement = {
  name: 'read-holds',
  text: 'select *, xmin::text as version from hold where request_id = any($1::uuid[])',
};

/**
 * SQL of a common table `locked`: the rows of `input` (columns "holdRequestId" and version) whose hold is as it was read, and is now
 * locked. A hold that somebody else has locked or changed is left out; nothing waits for it, and the row is tried again.
 *
 * Reading, deciding and writing in one transaction would hold the lock while the client decides, and for ever when it is frozen
 * there. Here the only locks are those of one statement, which ends without the client.
 */
export const LOCK_UNCHANGED_HOLDS = `locked as materialized (
    select i.* from input i join hold h on ${byIndex('h.request_id', 'i."holdRequestId"')}
    where h.xmin = i.version for no key update of h skip locked
  )`;
