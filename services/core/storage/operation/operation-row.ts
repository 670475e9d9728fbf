import { defineEntity, type FilterQuery, type InferEntity, p, raw } from '@mikro-orm/core';
import type { HoldAfter } from '../../domain/hold-after.ts';
import type { OperationKind, StatusInfo } from '../../domain/kinds.ts';
import type { BodyForm } from '../../domain/notification-body.ts';
import { byIndex } from '../by-index.ts';
import { type OrmDatabase, type Query, readRow, sql } from '../database.ts';
import type { LogPosition, OrderedLog } from '../ordered-log.ts';
import { entityManager } from '../orm.ts';
import { type Slice, scanPage } from '../scan-page.ts';

/**
 * The log of final results: appended to, never changed. `sequence` grows in commit order (see append-results.ts), so it
 * is the whole cursor of the stream of operations. Partitioned by `requestId` (partitions.ts), so that an operation has
 * one result.
 */
export const OperationEntity = defineEntity({
  name: 'Operation',
  tableName: 'operation',
  properties: {
    requestId: p.uuid().primary(),
    sequence: p.bigint('bigint').autoincrement(),
    kind: p.text().$type<OperationKind>(),
    status: p.text().$type<'OK' | 'KO'>(),
    statusInfo: p.text().$type<StatusInfo>(),
    merchantId: p.text(),
    terminalId: p.text(),
    userId: p.text(),
    amount: p.bigint('bigint'),
    currency: p.text(),
    holdRequestId: p.uuid().nullable(),
    captureRequestId: p.uuid().nullable(),
    /** Of a return: what came back. */
    refundRequestId: p.uuid().nullable(),
    octRequestId: p.uuid().nullable(),
    /** Of a correction: the operation that had another result. */
    correctsRequestId: p.uuid().nullable(),
    processorReference: p.text().nullable(),
    bankReference: p.text().nullable(),
    processorCode: p.text().nullable(),
    processorMessage: p.text().nullable(),
    merchantReference: p.text().nullable(),
    /** The merchant's own data about it. */
    metadata: p.json().nullable().$type<Record<string, string>>(),
    reason: p.text().nullable(),
    finalStateDate: p.datetime(3),
    /**
     * Position among the notifications of its hold, from 1 on; null = it has no hold, or its merchant is not notified.
     */
    holdSequence: p.integer().nullable(),
    /** The hold right after it, as its notification says it; null = it has none, or is from before this was kept. */
    statusAfter: p.text().nullable().$type<HoldAfter['statusAfter']>(),
    phaseAfter: p.text().nullable().$type<HoldAfter['phaseAfter']>(),
    amountAfter: p.bigint('bigint').nullable(),
    capturedAfter: p.bigint('bigint').nullable(),
    remainingAfter: p.bigint('bigint').nullable(),
    releasedAfter: p.bigint('bigint').nullable(),
    refundedAfter: p.bigint('bigint').nullable(),
    reversedAfter: p.bigint('bigint').nullable(),
    expiresAtAfter: p.datetime(3).nullable(),
    guaranteedUntilAfter: p.datetime(3).nullable(),
    /** The form of its notification's body (domain/notification-body.ts); null = the first one. */
    bodyForm: p.smallint().nullable().$type<BodyForm>(),
  },
});
export type OperationRow = InferEntity<typeof OperationEntity>;

/** Selects results; all conditions given must hold. */
export type ResultFilter = Partial<
  Pick<OperationRow, 'kind' | 'status' | 'merchantId' | 'currency' | 'userId' | 'merchantReference' | 'reason'>
> & {
  readonly holdRequestId?: string;
  /** Minor units, both inclusive. */
  readonly amountFrom?: bigint;
  readonly amountTo?: bigint;
  /** Of the card of its hold, or its own. */
  readonly cardLast4?: string;
  readonly finalFrom?: Date;
  readonly finalTo?: Date;
};

/**
 * Lists results, newest first, those before a sequence; undefined = from the newest. Indexes have the results of a
 * merchant and those of a hold; other filters are compared.
 */
export function listResults(
  database: OrmDatabase,
  { finalFrom, finalTo, amountFrom, amountTo, holdRequestId, merchantId, cardLast4, ...same }: ResultFilter,
  before: bigint | undefined,
  limit: number,
): Promise<Slice<OperationRow>> {
  const indexed: FilterQuery<OperationRow>[] = [];
  const compared: FilterQuery<OperationRow>[] = [];
  if (holdRequestId !== undefined) indexed.push({ holdRequestId });
  if (before !== undefined) indexed.push({ sequence: { $lt: before } });
  const ofMerchant = holdRequestId === undefined ? indexed : compared;
  if (merchantId !== undefined) ofMerchant.push({ merchantId });
  if (Object.keys(same).length > 0) compared.push(same);
  if (finalFrom) compared.push({ finalStateDate: { $gte: finalFrom } });
  if (finalTo) compared.push({ finalStateDate: { $lt: finalTo } });
  if (amountFrom !== undefined) compared.push({ amount: { $gte: amountFrom } });
  if (amountTo !== undefined) compared.push({ amount: { $lte: amountTo } });
  if (cardLast4 !== undefined) compared.push({ [raw(HAS_CARD, [cardLast4, cardLast4])]: true });
  const { query } = database;
  const scan = { entity: OperationEntity, key: 'sequence', indexed, compared, limit, query } as const;
  return scanPage<OperationRow>(entityManager(database), scan);
}

/**
 * SQL of a condition on a row `s`: the log itself has no card. With a plain `=` the planner reads all cards of the
 * table into a hash, for these few rows (measured: 2 000 000 holds).
 */
const HAS_CARD = `(exists (select from hold h
  where ${byIndex('h.request_id', 'coalesce(s.hold_request_id, s.request_id)')} and h.card_last4 = ?)
  or exists (select from submission p where ${byIndex('p.request_id', 's.request_id')} and p.card_last4 = ?))`;

/** Looks up the result of an operation. */
export function findResult(query: Query, requestId: string): Promise<OperationRow | undefined> {
  return readRow<OperationRow>(query, FIND_RESULT, [requestId]);
}

const FIND_RESULT = sql('find-result')`select * from operation where request_id = $1`;

/** The log of results as streams read it. */
export const OPERATION_LOG: OrderedLog<OperationRow> = {
  read: (query, after, limit) => query(READ_OPERATIONS, [after, limit]),
  readOf: (query, merchantId, after, limit) => query(READ_OPERATIONS_OF, [merchantId, after, limit]),
  async last(query) {
    const row = await readRow<Pick<OperationRow, 'sequence' | 'requestId'>>(query, LAST_POSITION, []);
    return row ? positionOf(row) : { sequence: 0n, mark: '' };
  },
  async placeAt(query, sequence) {
    const place = await (sequence === 0n
      ? readRow<Place>(query, FIND_BEGINNING, [])
      : readRow<Place>(query, FIND_PLACE, [sequence]));
    return place && { mark: markOf(place.requestId), isFollowed: place.isFollowed };
  },
  positionOf,
  storedAt: ({ finalStateDate }) => finalStateDate,
  bytesOf: () => 0,
};

interface Place {
  readonly requestId: string;
  readonly isFollowed: boolean;
}

/** The place of a result in the log: its mark is the random part of its requestId. */
export function positionOf({ sequence, requestId }: Pick<OperationRow, 'sequence' | 'requestId'>): LogPosition {
  return { sequence, mark: markOf(requestId) };
}

function markOf(requestId: string): string {
  return requestId.slice(-12);
}

const READ_OPERATIONS = sql('read-operations')`select * from operation where sequence > $1 order by sequence limit $2`;
/** With `merchant_id = $1` the planner takes a merchant for a large one, and reads the log of all (measured: 3 s). */
const READ_OPERATIONS_OF = sql('read-operations-of-merchant')`
    (select * from operation where sequence = $2)
    union all
    (select * from operation where (merchant_id, sequence) > ($1, $2) and merchant_id <= $1
      order by merchant_id, sequence limit $3)
    order by sequence`;
const LAST_POSITION = sql('last-position')`select sequence, request_id from operation order by sequence desc limit 1`;

/** Results are dropped by the age of both: of their requestId, which `results_from` bounds, and of their end. */
const FIND_PLACE = sql('find-place-in-log')`select request_id, final_state_date >= to_timestamp(
      ('x' || left(replace(results_from::text, '-', ''), 12))::bit(48)::bigint / 1000.0) as is_followed
    from operation, installation where sequence = $1`;
const FIND_BEGINNING = sql('find-beginning-of-log')`select '' as request_id,
      not exists (select from claim where request_id < results_from) as is_followed
    from installation`;
