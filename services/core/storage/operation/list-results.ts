import type { FilterQuery } from '@mikro-orm/core';
import type { OperationKind } from '../../domain/kinds.ts';
import type { Database } from '../database.ts';
import { entityManager } from '../orm.ts';
import { OperationEntity, type OperationRow } from './operation.ts';

/** Which results to list; all of what is given must be true. */
export interface ResultFilter {
  readonly kind?: OperationKind;
  readonly status?: 'OK' | 'KO';
  readonly holdRequestId?: string;
  /** Minor units, both inclusive. */
  readonly amountFrom?: bigint;
  readonly amountTo?: bigint;
  readonly currency?: string;
  readonly finalFrom?: Date;
  readonly finalTo?: Date;
}

/** Lists results, newest first. `merchantId` undefined = any merchant's; `before` undefined = from the newest. */
export async function listResults(
  database: Database,
  filter: ResultFilter,
  page: { readonly merchantId: string | undefined; readonly before: bigint | undefined; readonly limit: number },
): Promise<OperationRow[]> {
  const { finalFrom, finalTo, amountFrom, amountTo, ...same } = filter;
  const where: FilterQuery<OperationRow>[] = [same];
  if (finalFrom) where.push({ finalStateDate: { $gte: finalFrom } });
  if (finalTo) where.push({ finalStateDate: { $lt: finalTo } });
  if (amountFrom !== undefined) where.push({ amount: { $gte: amountFrom } });
  if (amountTo !== undefined) where.push({ amount: { $lte: amountTo } });
  if (page.merchantId !== undefined) where.push({ merchantId: page.merchantId });
  if (page.before !== undefined) where.push({ sequence: { $lt: page.before } });
  const newest = { orderBy: { sequence: 'desc' }, limit: page.limit } as const;
  return entityManager(database).find(OperationEntity, { $and: where }, newest);
}
