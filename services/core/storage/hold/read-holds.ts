import type { FilterQuery } from '@mikro-orm/core';
import type { HoldStatus } from '../../domain/hold.ts';
import { byIndex } from '../by-index.ts';
import { readRow, readRows } from '../camel-cased.ts';
import type { Database, Query, Statement } from '../database.ts';
import { idBounds } from '../id-bounds.ts';
import { entityManager } from '../orm.ts';
import { type Slice, scanPage } from '../scan-page.ts';
import { HoldEntity, type HoldRow } from './hold.ts';

/** A hold as it was read without a lock. */
export interface ReadHold extends HoldRow {
  /** Changes whenever the hold does: a statement that names it writes only if the hold is still as it was read. */
  readonly version: string;
}

/** Reads holds by requestId, without locking them. */
export function readHolds(query: Query, requestIds: readonly string[]): Promise<ReadHold[]> {
  return readRows<ReadHold>(query, READ_BY_REQUEST_ID, [requestIds]);
}

/** Looks up a hold by its requestId. */
export async function findHold(query: Query, requestId: string): Promise<HoldRow | undefined> {
  return (await readHolds(query, [requestId]))[0];
}

/** Looks up a hold by the hash of its preauthorizationId. */
export function findHoldByHandle(query: Query, idHash: Buffer): Promise<HoldRow | undefined> {
  return readRow<HoldRow>(query, READ_BY_HANDLE, [idHash]);
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

/** Which holds to list; all of what is given must be true. */
export interface HoldFilter {
  readonly status?: HoldStatus;
  readonly userId?: string;
  readonly terminalId?: string;
  readonly merchantReference?: string;
  readonly requestId?: string;
  readonly createdFrom?: Date;
  readonly createdTo?: Date;
  /** Minor units, both inclusive. */
  readonly amountFrom?: bigint;
  readonly amountTo?: bigint;
  readonly currency?: string;
  /** Only open holds that end before. */
  readonly expiringBefore?: Date;
}

/**
 * Lists holds, newest first: requestIds are UUIDv7, so their order is the order of creation. `merchantId` undefined = any merchant's;
 * `after` undefined = from the newest. Indexes have a merchant's holds and those of one of its users; other filters are compared.
 */
export async function listHolds(
  database: Database,
  filter: HoldFilter,
  page: { readonly merchantId: string | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<Slice<HoldRow>> {
  const { createdFrom, createdTo, expiringBefore, amountFrom, amountTo, requestId, userId, ...same } = filter;
  const { merchantId, after, limit } = page;
  const { lowest, highest } = idBounds(createdFrom, createdTo);
  const indexed: FilterQuery<HoldRow>[] = [{ requestId: { $gte: lowest, $lte: highest } }];
  const compared: FilterQuery<HoldRow>[] = [];
  if (merchantId !== undefined) indexed.push({ merchantId });
  if (requestId !== undefined) indexed.push({ requestId });
  if (after !== undefined) indexed.push({ requestId: { $lt: after } });
  if (userId !== undefined) (merchantId === undefined ? compared : indexed).push({ userId });
  if (Object.keys(same).length > 0) compared.push(same);
  if (createdFrom) compared.push({ createdAt: { $gte: createdFrom } });
  if (createdTo) compared.push({ createdAt: { $lt: createdTo } });
  if (amountFrom !== undefined) compared.push({ amount: { $gte: amountFrom } });
  if (amountTo !== undefined) compared.push({ amount: { $lte: amountTo } });
  if (expiringBefore) {
    compared.push({ expiresAt: { $lt: expiringBefore }, phase: 'AUTHORIZED' });
    compared.push({ status: { $in: ['IN_PROGRESS', 'PARTIALLY_CAPTURED'] } });
  }
  return scanPage<HoldRow>(entityManager(database), { entity: HoldEntity, key: 'requestId', indexed, compared, limit });
}
