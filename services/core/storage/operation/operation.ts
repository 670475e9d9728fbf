import { defineEntity, type FilterQuery, type InferEntity, p } from '@mikro-orm/core';
import { KIND_NAMES, type OperationKind, type StatusInfo } from '../../domain/kinds.ts';
import type { Database } from '../database.ts';
import { entityManager } from '../orm.ts';

/**
 * The log of final results: appended to, never changed. `sequence` grows in commit order (see operation-log.ts), so it is the
 * whole cursor of the stream of operations.
 */
export const OperationEntity = defineEntity({
  name: 'Operation',
  tableName: 'operation',
  properties: {
    sequence: p.bigint('bigint').primary(),
    requestId: p.uuid().unique(),
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
    processorReference: p.text().nullable(),
    bankReference: p.text().nullable(),
    processorCode: p.text().nullable(),
    processorMessage: p.text().nullable(),
    merchantReference: p.text().nullable(),
    finalStateDate: p.datetime(3),
  },
  checks: [
    { name: 'operation_status', expression: "status in ('OK', 'KO')" },
    { name: 'operation_kind', expression: `kind in (${KIND_NAMES.map((kind) => `'${kind}'`).join(', ')})` },
  ],
  indexes: [
    {
      name: 'operation_by_merchant',
      expression: 'create index "operation_by_merchant" on "operation" ("merchant_id", "sequence")',
    },
    {
      name: 'operation_by_hold',
      expression:
        'create index "operation_by_hold" on "operation" ("hold_request_id", "sequence") where hold_request_id is not null',
    },
  ],
});
export type OperationRow = InferEntity<typeof OperationEntity>;

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
