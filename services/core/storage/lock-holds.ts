import { camelCased } from './camel-cased.ts';
import type { Query, Statement } from './database.ts';
import type { HoldRow } from './hold.ts';

/** Locks holds by the hash of their preauthorizationId, in one order everywhere, so that no two writers wait for each other. */
export async function lockHoldsByIdHash(query: Query, idHashes: readonly Buffer[]): Promise<HoldRow[]> {
  return (await query<object>(LOCK_BY_ID_HASH, [idHashes])).map((row) => camelCased<HoldRow>(row));
}

/** Locks holds by requestId, in the same order. */
export async function lockHolds(query: Query, requestIds: readonly string[]): Promise<HoldRow[]> {
  return (await query<object>(LOCK_BY_REQUEST_ID, [requestIds])).map((row) => camelCased<HoldRow>(row));
}

const LOCK_BY_ID_HASH: Statement = {
  name: 'lock-holds-by-id-hash',
  text: 'select * from hold where id_hash = any($1::bytea[]) order by request_id for no key update',
};
const LOCK_BY_REQUEST_ID: Statement = {
  name: 'lock-holds',
  text: 'select * from hold where request_id = any($1::uuid[]) order by request_id for no key update',
};
