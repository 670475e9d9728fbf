/** What lists are filtered by, as core is asked: merchants' lists and operators' take the same words. */
import type { z } from 'zod';
import { OperationKind } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldStatus } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { defined } from './defined.ts';
import type { ListOperationsQuery } from './schema/operation.ts';
import type { ListPreauthorizationsQuery } from './schema/preauthorization.ts';
import { timestampOf } from './timestamp.ts';

/** Of ListPreauthorizations. */
export function holdFilters<Q extends z.output<typeof ListPreauthorizationsQuery>>(query: Q) {
  const { status, createdFrom, createdTo, expiringBefore, pageSize, ...filters } = query;
  return defined({
    ...filters,
    status: status && HoldStatus[status],
    createdFrom: timestampOf(createdFrom),
    createdTo: timestampOf(createdTo),
    expiringBefore: timestampOf(expiringBefore),
    pageSize: Number(pageSize ?? 0),
  });
}

/** Of ListOperations. */
export function operationFilters<Q extends z.output<typeof ListOperationsQuery>>(query: Q) {
  const { operation, status, finalFrom, finalTo, pageSize, ...filters } = query;
  return defined({
    ...filters,
    kind: operation && OperationKind[operation],
    state: status && OperationState[status],
    finalFrom: timestampOf(finalFrom),
    finalTo: timestampOf(finalTo),
    pageSize: Number(pageSize ?? 0),
  });
}
