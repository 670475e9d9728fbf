import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { EndpointKind, NotificationKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { OperationKind } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperationState } from '../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldStatus } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { cardOf } from '../books/result.ts';
import { type SentKind, SUBMISSION_KINDS } from '../domain/kinds.ts';
import type { EndpointKind as KeptEndpointKind, NotificationKind as KeptKind } from '../storage/delivery/delivery.ts';
import type { OperationRow } from '../storage/operation/operation-row.ts';
import type { Sent } from '../storage/submission/find-sent.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';

type Shown<Value> = Value extends Date ? Timestamp : NonNullable<Value>;

/** Fields of a row that have the same name in the contract: those that have a value. Times become timestamps. */
export function presentFields<Row extends object, Name extends keyof Row & string>(row: Row, ...names: Name[]) {
  const values = names.map((name) => [name, row[name]] as const).filter(([, value]) => value != null);
  const shown = values.map(([name, value]) => [name, value instanceof Date ? timestampFromDate(value) : value]);
  return Object.fromEntries(shown) as { [Field in Name]?: Shown<Row[Field]> };
}

/** The card of a row, as far as it may be shown. */
export function presentCard(row: Parameters<typeof cardOf>[0]) {
  const card = cardOf(row);
  return card ? { paymentMethod: { type: 'card', ...card } } : {};
}

/** What the processor said of a row. */
export function presentAnswer(row: {
  processorReference?: string | null | undefined;
  processorCode?: string | null | undefined;
  processorMessage?: string | null | undefined;
}) {
  const { processorCode: code, processorMessage } = row;
  return {
    ...presentFields(row, 'processorReference'),
    ...(code != null && { processorError: { code, message: processorMessage ?? '' } }),
  };
}

/** An OCT as callers see it. */
export function presentOct(oct: SubmissionRow) {
  return {
    ...presentFields(oct, 'requestId', 'merchantId', 'terminalId', 'userId', 'amount', 'currency', 'createdAt'),
    ...presentFields(oct, 'merchantReference', 'bankReference'),
    state: OperationState[oct.state],
    ...presentCard(oct),
    ...presentAnswer(oct),
    ...(oct.finalAt && { finalStateDate: timestampFromDate(oct.finalAt) }),
  };
}

/** A refund as callers see it. */
export function presentRefund(refund: SubmissionRow) {
  return {
    ...presentFields(refund, 'requestId', 'merchantId', 'captureRequestId', 'holdRequestId', 'amount', 'currency'),
    ...presentFields(refund, 'bankReference', 'createdAt'),
    ...(refund.state === 'OK' && { amountRefunded: refund.amount }),
    state: OperationState[refund.state],
    ...presentAnswer(refund),
    ...(refund.finalAt && { finalStateDate: timestampFromDate(refund.finalAt) }),
  };
}

/** A capture as callers see it. */
export function presentCapture(capture: SubmissionRow) {
  return {
    ...presentFields(capture, 'requestId', 'holdRequestId', 'amount', 'currency', 'createdAt'),
    ...presentFields(capture, 'bankReference'),
    // A capture closes its hold unasked when the contract allows one capture, and when nothing is left.
    finalCapture: capture.finalCapture || (capture.state === 'OK' && capture.statusAfter === 'CAPTURED'),
    ...(capture.state === 'OK' && { amountCaptured: capture.amount }),
    state: OperationState[capture.state],
    ...(capture.state === 'OK' && capture.finalAt && { captureDate: timestampFromDate(capture.finalAt) }),
    ...(capture.remainingAfter != null && { amountRemaining: capture.remainingAfter }),
    ...(capture.releasedAfter != null && { amountReleased: capture.releasedAfter }),
    ...(capture.statusAfter != null && { preauthorizationStatus: HoldStatus[capture.statusAfter] }),
    ...presentAnswer(capture),
    amountReversed: capture.amountReversed ?? 0n,
    reversed: capture.amountReversed === capture.amount,
    amountRefunded: capture.amountRefunded ?? 0n,
  };
}

/** A final result as callers see it. */
export function presentOperation(operation: OperationRow) {
  return {
    ...presentFields(operation, 'requestId', 'merchantId', 'terminalId', 'userId', 'amount', 'currency', 'statusInfo'),
    ...presentFields(operation, 'holdRequestId', 'captureRequestId', 'bankReference', 'merchantReference'),
    ...presentFields(operation, 'finalStateDate', 'sequence'),
    kind: OperationKind[operation.kind],
    state: OperationState[operation.status],
    ...presentAnswer(operation),
  };
}

/** An operation that has no result yet, as callers see it; undefined = it makes none. */
export function presentSent(sent: Sent) {
  const kind = operationOf(sent.kind);
  if (kind === null) return undefined;
  return {
    ...presentFields(sent, 'requestId', 'merchantId', 'amount', 'currency', 'holdRequestId'),
    kind: OperationKind[kind],
    state: OperationState[sent.state],
  };
}

/** The operation that is made by what is sent; null = none. */
export function operationOf(kind: SentKind) {
  return kind === 'HOLD' ? kind : SUBMISSION_KINDS[kind].operation;
}

export function endpointKindOf(kept: KeptEndpointKind): EndpointKind {
  return kept === 'internal' ? EndpointKind.INTERNAL : EndpointKind.WEBHOOK;
}

/** The kind must be specified. */
export function keptEndpointKind(kind: EndpointKind): KeptEndpointKind {
  return kind === EndpointKind.INTERNAL ? 'internal' : 'webhook';
}

export function notificationKindOf(kept: KeptKind): NotificationKind {
  return kept === 'oct' ? NotificationKind.OCT : NotificationKind.PAYMENT;
}

/** The kind must be specified. */
export function keptNotificationKind(kind: NotificationKind): KeptKind {
  return kind === NotificationKind.OCT ? 'oct' : 'payment';
}
