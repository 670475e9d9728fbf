import type { FilterQuery } from '@mikro-orm/core';
import type { OrmDatabase } from '../database.ts';
import { idBounds } from '../id-bounds.ts';
import { OperationEntity } from '../operation/operation-row.ts';
import { entityManager } from '../orm.ts';
import { type Slice, scanPage } from '../scan-page.ts';
import {
  DeliveryAttemptEntity,
  type DeliveryAttemptRow,
  DeliveryEntity,
  type DeliveryRow,
  type EndpointPurpose,
} from './delivery-row.ts';

/** A delivery without what it sends. */
export type DeliveryHead = Omit<DeliveryRow, 'body' | symbol>;

/** Selects deliveries; an absent condition matches all. */
export type DeliveryFilter = Partial<Pick<DeliveryRow, 'merchantId' | 'endpointId' | 'state' | 'requestId'>> & {
  /** Only to endpoints of this purpose. */
  readonly purpose?: EndpointPurpose;
  /** Only notifications about this hold and the operations on it. */
  readonly holdRequestId?: string;
  readonly createdFrom?: Date;
  readonly createdTo?: Date;
};

/** Reads a delivery and what it sends. */
export async function findDelivery(database: OrmDatabase, id: string): Promise<DeliveryRow | undefined> {
  return (await entityManager(database).findOne(DeliveryEntity, { id })) ?? undefined;
}

/** Lists attempts of a delivery, newest first, those before the number `before`; undefined = from the newest. */
export function listAttempts(
  database: OrmDatabase,
  deliveryId: string,
  before: number | undefined,
  limit: number,
): Promise<DeliveryAttemptRow[]> {
  const where = { deliveryId, ...(before !== undefined && { number: { $lt: before } }) };
  return entityManager(database).find(DeliveryAttemptEntity, where, { orderBy: { number: 'desc' }, limit });
}

/**
 * Lists deliveries, newest first, those before the id `after`. Indexes have those of a merchant, those about an
 * operation, and the dead ones; other filters are compared.
 */
export async function listDeliveries(
  database: OrmDatabase,
  { createdFrom, createdTo, merchantId, requestId, holdRequestId, state, purpose, ...same }: DeliveryFilter,
  after: string | undefined,
  limit: number,
): Promise<Slice<DeliveryHead>> {
  const { lowest, highest } = idBounds(createdFrom, createdTo);
  const indexed: FilterQuery<DeliveryRow>[] = [{ id: { $gte: lowest, $lte: highest } }];
  const compared: FilterQuery<DeliveryRow>[] = [];
  if (after !== undefined) indexed.push({ id: { $lt: after } });
  if (requestId !== undefined) indexed.push({ requestId });
  if (holdRequestId !== undefined) {
    indexed.push({ requestId: { $in: [holdRequestId, ...(await operationsOf(database, holdRequestId))] } });
  }
  const isNamed = requestId !== undefined || holdRequestId !== undefined;
  const ofMerchant = isNamed ? compared : indexed;
  if (merchantId !== undefined) ofMerchant.push({ merchantId });
  const ofState = state === 'DEAD' && !isNamed && merchantId === undefined ? indexed : compared;
  if (state !== undefined) ofState.push({ state });
  if (purpose !== undefined) compared.push({ endpointId: { $like: `${purpose}%` } });
  if (Object.keys(same).length > 0) compared.push(same);
  if (createdFrom) compared.push({ createdAt: { $gte: createdFrom } });
  if (createdTo) compared.push({ createdAt: { $lt: createdTo } });
  const scan = { entity: DeliveryEntity, key: 'id', indexed, compared, limit, exclude: ['body'] } as const;
  return scanPage<DeliveryRow>(entityManager(database), scan);
}

/** The newest operations on a hold. */
async function operationsOf(database: OrmDatabase, holdRequestId: string): Promise<string[]> {
  const newest = { orderBy: { sequence: 'desc' }, limit: MOST_OPERATIONS, fields: ['requestId'] } as const;
  const operations = await entityManager(database).find(OperationEntity, { holdRequestId }, newest);
  return operations.map(({ requestId }) => requestId);
}

const MOST_OPERATIONS = 1_000;
