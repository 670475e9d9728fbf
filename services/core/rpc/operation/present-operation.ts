import { OperationKind } from '../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import type { Submission } from '../../storage/operation/find-submission.ts';
import type { OperationRow } from '../../storage/operation/operation.ts';
import { presentAnswer, time } from '../present.ts';

/** A final result as callers see it. */
export function presentOperation(operation: OperationRow) {
  return {
    requestId: operation.requestId,
    kind: OperationKind[operation.kind],
    state: OperationState[operation.status],
    statusInfo: operation.statusInfo,
    merchantId: operation.merchantId,
    amount: operation.amount,
    currency: operation.currency,
    ...(operation.holdRequestId != null && { holdRequestId: operation.holdRequestId }),
    ...(operation.captureRequestId != null && { captureRequestId: operation.captureRequestId }),
    ...(operation.bankReference != null && { bankReference: operation.bankReference }),
    ...presentAnswer(operation),
    ...(operation.merchantReference != null && { merchantReference: operation.merchantReference }),
    terminalId: operation.terminalId,
    userId: operation.userId,
    ...time('finalStateDate', operation.finalStateDate),
    sequence: operation.sequence,
  };
}

/** An operation that has no result yet, as callers see it. */
export function presentSubmission({ requestId, merchantId, amount, currency, kind, state, holdRequestId }: Submission) {
  return {
    ...{ requestId, merchantId, amount, currency },
    kind: OperationKind[kind],
    state: OperationState[state],
    ...(holdRequestId !== null && { holdRequestId }),
  };
}
