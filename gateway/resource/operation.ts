import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import {
  ListOperationsRequestSchema,
  OperationKindSchema,
  OperationSchema,
} from '../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationStateSchema } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core/client.ts';
import { answer, pageOf } from './answer.ts';
import { defined } from './answer-fields.ts';
import { numberOf } from './contract-field.ts';
import { CSV_QUERY } from './csv.ts';
import { isRequestId } from './identifiers.ts';
import * as requested from './request-fields.ts';
import { STATUS_INFOS } from './status-words.ts';

/** An operation and, once final, its result. */
export const Operation = answer('Operation', OperationSchema, {
  without: ['sequence'],
  own: {
    statusInfo: {
      schema: z.enum(STATUS_INFOS).describe("The word of its notification's path; absent until it is final").optional(),
    },
  },
});

export const OperationPage = pageOf('OperationPage', 'Newest first', Operation, 'operations');

export const OperationFilters = z.strictObject({
  operation: numberOf(OperationKindSchema).optional(),
  status: numberOf(OperationStateSchema, ['PENDING', 'UNKNOWN', 'NEEDS_REVIEW']).optional(),
  holdRequestId: requested.requestIdFilter.optional(),
  reason: requested.identifierOf(ListOperationsRequestSchema.field.reason).describe('Only with this reason').optional(),
  finalFrom: requested.timeFrom.optional(),
  finalTo: requested.timeBefore.optional(),
  ...requested.filters,
  ...requested.page,
  ...CSV_QUERY,
});

/**
 * A page of operations as JSON: of a merchant, or of all when it is absent. A malformed holdRequestId finds nothing.
 */
export async function operationPage(
  core: Core,
  { operation: kind, status: state, ...filters }: z.output<typeof OperationFilters> & { readonly merchantId?: string },
  call?: GrpcCall,
) {
  if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) return { items: [] };
  return OperationPage.json(await core.operations.listOperations(defined({ ...filters, kind, state }), call));
}
