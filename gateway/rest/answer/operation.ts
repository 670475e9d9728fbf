import { type Operation, OperationKind } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { money, processorFields, some, time } from './words.ts';

/** An operation with, once final, its result; named as in the notification about it. */
export function operationJson(operation: Operation) {
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
