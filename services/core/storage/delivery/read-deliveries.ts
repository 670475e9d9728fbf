import type { FilterQuery } from '@mikro-orm/core';
import type { Database } from '../database.ts';
import { idBounds } from '../id-bounds.ts';
import { OperationEntity } from '../operation/operation.ts';
import { entityManager } from '../orm.ts';
import { DeliveryAttemptEntity, type DeliveryAttemptRow, DeliveryEntity, type DeliveryRow } from './delivery.ts';

/** A delivery without what it sends. */
export type DeliveryHead = Omit<DeliveryRow, 'body' | symbol>;

/** Which deliveries to list; an absent filter matches all. */
export interface DeliveryFilter {
  readonly merchantId?: string;
  readonly endpointKind?: DeliveryRow['endpointKind'];
  readonly state?: DeliveryRow['state'];
  readonly requestId?: string;
  /** Created at or after this. */
  readonly createdFrom?: Date;
  /** Created before this. */
  readonly createdTo?: Date;
}

/** Reads a delivery and what it sends. */
export async function findDelivery(database: Database, id: string): Promise<DeliveryRow | undefined> {
  return (await entityManager(database).findOne(DeliveryEntity, { id })) ?? undefined;
}

/** Lists attempts of a delivery, newest first, those before the number `before`; undefined = from the newest. */
export function listAttempts(
  database: Database,
  deliveryId: string,
  before: number | undefined,
  limit: number,
): Promise<DeliveryAttemptRow[]> {
  const where = { deliveryId, ...(before !== undefined && { number: { $lt: before } }) };
  return entityManager(database).find(DeliveryAttemptEntity, where, { orderBy: { number: 'desc' }, limit });
}

/**
 * Lists deliveries, newest first, those before the id `after`. `holdRequestId` limits them to notifications about a hold and the
 * operations on it.
 */
export async function listDeliveries(
  database: Database,
  { createdFrom, createdTo, ...same }: DeliveryFilter,
  { holdRequestId, after, limit }: { holdRequestId?: string; after: string | undefined; limit: number },
): Promise<DeliveryHead[]> {
  const em = entityManager(database);
  const ofHold = holdRequestId && {
    requestId: { $in: [holdRequestId, ...(await operationsOf(database, holdRequestId))] },
  };
  const { lowest, highest } = idBounds(createdFrom, createdTo);
  const where: FilterQuery<DeliveryRow>[] = [same, { ...ofHold }];
  if (createdFrom) where.push({ id: { $gte: lowest }, createdAt: { $gte: createdFrom } });
  if (createdTo) where.push({ id: { $lte: highest }, createdAt: { $lt: createdTo } });
  if (after !== undefined) where.push({ id: { $lt: after } });
  return em.find(DeliveryEntity, { $and: where }, { orderBy: { id: 'desc' }, limit, exclude: ['body'] });
}

async function operationsOf(database: Database, holdRequestId: string): Promise<string[]> {
  const em = entityManager(database);
  const operations = await em.find(OperationEntity, { holdRequestId }, { fields: ['requestId'] });
  return operations.map(({ requestId }) => requestId);
}
