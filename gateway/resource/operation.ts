import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import { OperationKind, OperationSchema } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Core } from '../core/client.ts';
import * as fields from './answer-fields.ts';
import { defined, messageJson, pageJson, processorFields } from './core-messages.ts';
import { isRequestId } from './identifiers.ts';
import * as requested from './request-fields.ts';
import { KIND_NAMES, STATUS_INFOS } from './status-words.ts';

/** An operation and, once final, its result. */
export const Operation = z
  .object({
    requestId: fields.requestId,
    operation: z.enum(KIND_NAMES),
    status: fields.operationStatus,
    statusInfo: z
      .enum(STATUS_INFOS)
      .meta({ description: "The word of the path of its notification; the result's, so absent until then" })
      .optional(),
    amount: fields.money("The hold's, capture's or OCT's, or what was given back, taken back or given again"),
    currency: fields.currency,
    ...fields.parties,
    terminalId: fields.parties.terminalId.optional(),
    userId: fields.parties.userId.optional(),
    holdRequestId: fields.requestId.meta({ description: 'The hold that it belongs to' }).optional(),
    captureRequestId: fields.requestId
      .meta({ description: 'The capture that a reversal takes back, or a reinstatement gives again' })
      .optional(),
    reference: fields.reference.optional(),
    bankReference: fields.bankReference.optional(),
    ...fields.processorFields,
    finalStateDate: fields.time('When it became final').optional(),
  })
  .meta({ id: 'Operation', description: 'One operation with one final result' });

export const OperationPage = fields.pageOf(Operation).meta({ id: 'OperationPage', description: 'Newest first' });

/** An operation of core's as JSON, with the field names of the notification about it. */
export const operationJson = messageJson(Operation, OperationSchema, processorFields);

/** Filters of a list of operations, joined by AND. */
export const OperationFilters = z.strictObject({
  operation: z
    .enum(KIND_NAMES)
    .transform((kind) => OperationKind[kind])
    .optional(),
  status: z
    .enum(['OK', 'KO'])
    .transform((status) => OperationState[status])
    .optional(),
  holdRequestId: requested.requestIdFilter.optional(),
  finalFrom: requested.time.optional(),
  finalTo: requested.time.optional(),
  ...requested.filters,
  ...requested.page,
});

/**
 * A page of operations as JSON: of a merchant, or of all when it is absent. A malformed holdRequestId finds nothing.
 */
export async function operationPage(
  core: Core,
  { operation: kind, status: state, ...filters }: z.output<typeof OperationFilters> & { readonly merchantId?: string },
  call?: GrpcCall,
) {
  if (filters.holdRequestId !== undefined && !isRequestId(filters.holdRequestId)) return pageJson([], '');
  const { operations, nextPageToken } = await core.operations.listOperations(
    defined({ ...filters, kind, state }),
    call,
  );
  return pageJson(operations.map(operationJson), nextPageToken);
}
