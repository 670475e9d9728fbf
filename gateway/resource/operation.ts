import { z } from 'zod';
import { type Operation as CoreOperation, OperationKind } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import * as fields from './answer-fields.ts';
import { money, processorFields, some, time } from './from-core.ts';
import { KIND_NAMES, STATUS_INFOS } from './kinds.ts';
import * as requested from './request-fields.ts';
import { defined, timestampOf } from './to-core.ts';

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
export function operationJson(operation: CoreOperation) {
  return {
    requestId: operation.requestId,
    operation: OperationKind[operation.kind],
    status: OperationState[operation.state],
    statusInfo: some(operation.statusInfo),
    merchantId: operation.merchantId,
    amount: money(operation.amount),
    currency: operation.currency,
    holdRequestId: some(operation.holdRequestId),
    captureRequestId: some(operation.captureRequestId),
    terminalId: some(operation.terminalId),
    userId: some(operation.userId),
    merchantReference: some(operation.merchantReference),
    reference: some(operation.processorReference),
    bankReference: some(operation.bankReference),
    ...processorFields(operation.processorError),
    finalStateDate: time(operation.finalStateDate),
  };
}

/** Filters of a list of operations, joined by AND. */
export const OperationFilters = z.strictObject({
  operation: z.enum(KIND_NAMES).optional(),
  status: z.enum(['OK', 'KO']).optional(),
  holdRequestId: requested.requestIdFilter.optional(),
  finalFrom: requested.time.optional(),
  finalTo: requested.time.optional(),
  ...requested.page,
});

/** The filters as fields of core's ListOperations. */
export function operationFilters<Q extends z.output<typeof OperationFilters>>(query: Q) {
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
