import type { FilterQuery } from '@mikro-orm/core';
import type { HoldStatus } from '../../domain/hold.ts';
import type { Database } from '../database.ts';
import { entityManager } from '../orm.ts';
import { HoldEntity, type HoldRow } from './hold.ts';

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
 * `after` undefined = from the newest.
 */
export async function listHolds(
  database: Database,
  filter: HoldFilter,
  page: { readonly merchantId: string | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<HoldRow[]> {
  const { createdFrom, createdTo, expiringBefore, amountFrom, amountTo, ...same } = filter;
  const where: FilterQuery<HoldRow>[] = [same];
  if (createdFrom) where.push({ createdAt: { $gte: createdFrom } });
  if (createdTo) where.push({ createdAt: { $lt: createdTo } });
  if (amountFrom !== undefined) where.push({ amount: { $gte: amountFrom } });
  if (amountTo !== undefined) where.push({ amount: { $lte: amountTo } });
  if (expiringBefore) {
    where.push({ expiresAt: { $lt: expiringBefore }, phase: 'AUTHORIZED' });
    where.push({ status: { $in: ['IN_PROGRESS', 'PARTIALLY_CAPTURED'] } });
  }
  if (page.merchantId !== undefined) where.push({ merchantId: page.merchantId });
  if (page.after !== undefined) where.push({ requestId: { $lt: page.after } });
  const newest = { orderBy: { requestId: 'desc' }, limit: page.limit } as const;
  return entityManager(database).find(HoldEntity, { $and: where }, newest);
}
