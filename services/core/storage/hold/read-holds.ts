import type { FilterQuery } from '@mikro-orm/core';
import { type OrmDatabase, type Query, readRow, sql } from '../database.ts';
import { idBounds } from '../id-bounds.ts';
import { entityManager } from '../orm.ts';
import { type Slice, scanPage } from '../scan-page.ts';
import { HoldEntity, type HoldRow, type WrittenHold } from './hold-row.ts';
import { versionOf } from './hold-version.ts';

/** A hold as it was read without a lock. */
export interface ReadHold extends HoldRow {
  /** Changes whenever the hold does: a statement that names it writes only if the hold is still as it was read. */
  readonly version: string;
}

/** A hold as it was read, or as this process wrote it last. */
export type KnownHold = WrittenHold & Pick<ReadHold, 'version'>;

/** Reads holds by requestId, without locking them. */
export function readHolds(query: Query, requestIds: readonly string[]): Promise<ReadHold[]> {
  return query<ReadHold>(READ_BY_REQUEST_ID, [requestIds]);
}

/** Looks up a hold by its requestId. */
export async function findHold(query: Query, requestId: string): Promise<HoldRow | undefined> {
  return (await readHolds(query, [requestId]))[0];
}

/** Looks up a hold by the hash of its preauthorizationId. */
export function findHoldByHandle(query: Query, idHash: Buffer): Promise<HoldRow | undefined> {
  return readRow<HoldRow>(query, READ_BY_HANDLE, [idHash]);
}

const READ_BY_HANDLE = sql('read-hold-by-handle')`select * from hold where id_hash = $1`;

const READ_BY_REQUEST_ID = sql('read-holds')`select *, ${versionOf('hold')} as version from hold
    where request_id = any($1::uuid[])`;

/** A hold, and one of its authorizations: the requestId of the hold, or of the RENEWAL that made it. */
export interface Authorized {
  readonly hold: HoldRow;
  readonly authorization: string;
}

/** Looks up authorizations by their identifiers at processors. Returns them in their order; undefined = there is none. */
export async function findAuthorizationsAt(
  query: Query,
  places: readonly { readonly identifier: string; readonly processor: string }[],
): Promise<(Authorized | undefined)[]> {
  const values = [places.map(({ identifier }) => identifier), places.map(({ processor }) => processor)];
  const rows = await query<HoldRow & { place: bigint; authorization: string }>(READ_AT_PROCESSORS, values);
  const found = new Map(rows.map((hold) => [Number(hold.place) - 1, { hold, authorization: hold.authorization }]));
  return places.map((_, place) => found.get(place));
}

const READ_AT_PROCESSORS = sql('read-authorizations-at-processors')`with wanted as (
      select * from unnest($1::uuid[], $2::text[]) with ordinality as i(identifier, processor, place)
    )
    select i.place, h.request_id as authorization, h.*
    from wanted i join hold h on (h.processor_request_id = i.identifier
      or (h.request_id = i.identifier and h.processor_request_id is null))
      and h.processor = i.processor
    union all
    select i.place, r.request_id, h.*
    from wanted i join submission r on (r.processor_request_id = i.identifier
      or (r.request_id = i.identifier and r.processor_request_id is null))
      and r.processor = i.processor and r.kind = 'RENEWAL'
    join hold h on h.request_id = r.hold_request_id`;

/** What a submission on a hold is judged by: the hold, and whether the submission's requestId is taken. */
export interface Subject {
  readonly isKnown: boolean;
  readonly hold: KnownHold | undefined;
}

/** Reads the holds that requests name by the hash of their preauthorizationId. */
export async function readSubjects<Request extends { readonly requestId: string; readonly idHash: Buffer }>(
  query: Query,
  requests: readonly Request[],
): Promise<ReadonlyMap<Request, Subject>> {
  const subjects = new Map<Request, Subject>();
  if (requests.length === 0) return subjects;
  const named = requests.map(({ requestId, idHash }, place) => ({
    place,
    requestId,
    idHash: `\\x${idHash.toString('hex')}`,
  }));
  for (const row of await query<SubjectRow>(READ_SUBJECTS, [JSON.stringify(named)])) {
    const hold = row.idHash ? (row as ReadHold) : undefined;
    subjects.set(requests[row.place] as Request, { isKnown: row.isKnown, hold });
  }
  return subjects;
}

/** Without a hold, the hold's columns are null. */
type SubjectRow = { readonly place: number; readonly isKnown: boolean } & (ReadHold | { readonly idHash: null });

/** Takes JSON: PostgreSQL would plan anew for each array of one element, which takes half as long again (measured). */
export const READ_SUBJECTS = sql('read-subjects')`select i.place, ${versionOf('h')} as version, h.*,
      exists (select from claim c where c.request_id = any (array[i."requestId"])) as is_known
    from json_to_recordset($1::json) as i(place int, "requestId" uuid, "idHash" bytea)
      left join hold h on h.id_hash = any (array[i."idHash"])`;

/** Reads the holds of submissions that have no result yet, by the submission's requestId: both as of one moment. */
export async function readHoldsOfOpen(query: Query, requestIds: readonly string[]) {
  const holds = new Map<string, ReadHold>();
  if (requestIds.length === 0) return holds;
  const rows = await query<ReadHold & { submission: string }>(READ_HOLDS_OF_OPEN, [requestIds]);
  for (const row of rows) holds.set(row.submission, row);
  return holds;
}

export const READ_HOLDS_OF_OPEN = sql('read-holds-of-open-submissions')`select s.request_id as submission,
      ${versionOf('h')} as version, h.*
    from submission s join hold h on h.request_id = any (array[s.hold_request_id])
    where s.request_id = any($1::uuid[]) and s.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')`;

/** Selects holds; all conditions given must hold. */
export type HoldFilter = Partial<
  Pick<HoldRow, 'status' | 'merchantId' | 'userId' | 'terminalId' | 'requestId' | 'currency'>
> & {
  readonly merchantReference?: string;
  readonly cardLast4?: string;
  readonly createdFrom?: Date;
  readonly createdTo?: Date;
  /** Minor units, both inclusive. */
  readonly amountFrom?: bigint;
  readonly amountTo?: bigint;
  /** Only open holds that end before. */
  readonly expiringBefore?: Date;
};

/**
 * Lists holds, newest first, those before the requestId `after`; undefined = from the newest. RequestIds are UUIDv7, so
 * their order is the order of creation. Indexes have a merchant's holds, those of one of its users and those with one
 * of its references; other filters are compared.
 */
export function listHolds(
  database: OrmDatabase,
  { createdFrom, createdTo, expiringBefore, amountFrom, amountTo, requestId, merchantId, ...rest }: HoldFilter,
  after: string | undefined,
  limit: number,
): Promise<Slice<HoldRow>> {
  const { userId, merchantReference, ...same } = rest;
  const { lowest, highest } = idBounds(createdFrom, createdTo);
  const indexed: FilterQuery<HoldRow>[] = [{ requestId: { $gte: lowest, $lte: highest } }];
  const compared: FilterQuery<HoldRow>[] = [];
  if (merchantId !== undefined) indexed.push({ merchantId });
  if (requestId !== undefined) indexed.push({ requestId });
  if (after !== undefined) indexed.push({ requestId: { $lt: after } });
  const withMerchant = merchantId === undefined ? compared : indexed;
  if (userId !== undefined) withMerchant.push({ userId });
  if (merchantReference !== undefined) withMerchant.push({ merchantReference });
  if (Object.keys(same).length > 0) compared.push(same);
  if (createdFrom) compared.push({ createdAt: { $gte: createdFrom } });
  if (createdTo) compared.push({ createdAt: { $lt: createdTo } });
  if (amountFrom !== undefined) compared.push({ amount: { $gte: amountFrom } });
  if (amountTo !== undefined) compared.push({ amount: { $lte: amountTo } });
  if (expiringBefore) {
    compared.push({ $or: [{ expiresAt: { $lt: expiringBefore } }, { releaseAt: { $lt: expiringBefore } }] });
    compared.push({ phase: 'AUTHORIZED', status: { $in: ['IN_PROGRESS', 'PARTIALLY_CAPTURED'] } });
  }
  return scanPage<HoldRow>(entityManager(database), { entity: HoldEntity, key: 'requestId', indexed, compared, limit });
}

/**
 * The card network's identifier of the newest hold of a card in which the customer took part; undefined = none is known.
 */
export async function findNetworkTransaction(
  query: Query,
  { merchantId, tokenId, userId }: Pick<HoldRow, 'merchantId' | 'userId'> & { readonly tokenId: string },
): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(FIND_NETWORK_TRANSACTION, [merchantId, tokenId, userId]);
  return row?.id;
}

const FIND_NETWORK_TRANSACTION = sql('find-network-transaction')`select network_transaction_id as id from hold
    where merchant_id = $1 and coalesce(token_id, generated_token_id) = $2 and user_id = $3
      and customer_present and network_transaction_id is not null
    order by created_at desc limit 1`;
