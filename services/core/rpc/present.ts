import type { DescEnum, DescMessage, Message, MessageShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { EndpointKind, NotificationKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { OctSchema } from '../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationSchema } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { CaptureSchema } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { RefundSchema } from '../../../proto/gen/holdfast/v1/refund_pb.js';
import { cardOf } from '../books/operation-result.ts';
import type { WrittenSubmission } from '../books/written.ts';
import { type SentKind, SUBMISSION_KINDS } from '../domain/kinds.ts';
import { inOrder } from '../domain/notification-body.ts';
import {
  type EndpointId,
  type EndpointPurpose,
  type NotificationKind as KeptKind,
  purposeOf,
  shownEndpointId,
} from '../storage/delivery/delivery-row.ts';
import type { EndpointChoice } from '../storage/delivery/make-due-again.ts';
import { isEndpointId } from '../storage/endpoint/endpoint-row.ts';
import type { OperationRow } from '../storage/operation/operation-row.ts';
import type { Sent } from '../storage/submission/find-sent.ts';
import { invalidField } from './refuse.ts';

/**
 * The message of a row: those of its fields that the row has a value for, under the same name. Times become timestamps,
 * words the enum values that are called so. A field that is added to both is answered from then on. `instead` are
 * values that the row has under another name, or not so; a row is not copied for them, which took ten times as long.
 */
export function present<Desc extends DescMessage>({ fields }: Desc, row: object, instead: object = {}): Fields<Desc> {
  const values = row as Readonly<Record<string, unknown>>;
  const others = instead as Readonly<Record<string, unknown>>;
  const message: Record<string, unknown> = {};
  for (const { localName, enum: words } of fields) {
    const value = localName in others ? others[localName] : values[localName];
    if (value == null) continue;
    if (value instanceof Date) message[localName] = timestampFromDate(value);
    else message[localName] = words ? numberOf(words, String(value)) : value;
  }
  return message as Fields<Desc>;
}

type Fields<Desc extends DescMessage> = Partial<Omit<MessageShape<Desc>, keyof Message>>;

function numberOf({ values }: DescEnum, word: string): number | undefined {
  return values.find(({ localName }) => localName === word.toUpperCase())?.number;
}

/** The card of a row, as far as it may be shown. */
export function presentCard(row: Parameters<typeof cardOf>[0]) {
  const card = cardOf(row);
  return card ? { paymentMethod: { type: 'card', ...card } } : {};
}

/** The refusal of the processor in a row. */
export function presentError(row: Partial<Pick<WrittenSubmission, 'processorCode' | 'processorMessage' | 'state'>>) {
  const { processorCode: code, processorMessage, state } = row;
  // An operation that was KO before its correction still has the old refusal, which is not shown.
  return code == null || state === 'OK' ? {} : { processorError: { code, message: processorMessage ?? '' } };
}

/** An OCT as callers see it. */
export function presentOct(oct: WrittenSubmission) {
  return {
    ...present(OctSchema, oct, { finalStateDate: oct.finalAt, ...sorted(oct) }),
    ...presentCard(oct),
    ...presentError(oct),
  };
}

/** A refund as callers see it. */
export function presentRefund(refund: WrittenSubmission) {
  const amountRefunded = refund.state === 'OK' ? refund.amount : null;
  return {
    ...present(RefundSchema, refund, { amountRefunded, finalStateDate: refund.finalAt, ...sorted(refund) }),
    ...presentError(refund),
  };
}

/** A capture as callers see it. */
export function presentCapture(capture: WrittenSubmission) {
  const isOk = capture.state === 'OK';
  const shown = {
    amountCaptured: isOk ? capture.amount : null,
    captureDate: isOk ? capture.finalAt : null,
    amountRemaining: capture.remainingAfter,
    amountReleased: capture.releasedAfter,
    preauthorizationStatus: capture.statusAfter,
    // A capture closes its hold unasked when the contract allows one capture, and when nothing is left.
    finalCapture: capture.finalCapture || (isOk && capture.statusAfter === 'CAPTURED'),
    reversed: capture.amountReversed === capture.amount,
    ...sorted(capture),
  };
  return { ...present(CaptureSchema, capture, shown), ...presentError(capture) };
}

/** Metadata in their order, where there are any. */
function sorted({ metadata }: { readonly metadata?: Record<string, string> | null | undefined }) {
  return metadata == null ? {} : { metadata: inOrder(metadata) };
}

/** A final result as callers see it. */
export function presentOperation(operation: OperationRow) {
  return {
    ...present(OperationSchema, operation, { state: operation.status, ...sorted(operation) }),
    ...presentError(operation),
  };
}

/** An operation that has no result yet, as callers see it; undefined = it makes none. */
export function presentSent(sent: Sent) {
  const kind = operationOf(sent.kind);
  return kind === null ? undefined : present(OperationSchema, sent, { kind, ...sorted(sent) });
}

/** The kind of operation that a submission makes; null = none. */
export function operationOf(kind: SentKind) {
  return kind === 'HOLD' ? kind : SUBMISSION_KINDS[kind].operation;
}

/** The kind must be specified. */
export function purposeOfKind(kind: EndpointKind): EndpointPurpose {
  return kind === EndpointKind.INTERNAL ? 'internal' : 'webhook';
}

/** The id that callers mean; undefined = it is none. */
export function keptEndpointId(id: string): EndpointId | undefined {
  if (id === 'default') return 'webhook';
  return isEndpointId(id) && id !== 'webhook' ? id : undefined;
}

/** Which endpoints a request names, by id or kind; null = all. Throws INVALID_REQUEST for an id that is none. */
export function chosenEndpoint(request: {
  readonly endpointId: string;
  readonly endpointKind: EndpointKind;
}): EndpointChoice | null {
  const { endpointId, endpointKind } = request;
  if (endpointId === '') {
    return endpointKind === EndpointKind.UNSPECIFIED ? null : { purpose: purposeOfKind(endpointKind) };
  }
  const id = keptEndpointId(endpointId);
  if (id === undefined) throw invalidField('endpoint_id', 'is not the id of an endpoint');
  return { endpointId: id };
}

/** The endpoint of a row as present() takes it. */
export function presentedEndpoint(endpointId: EndpointId) {
  return { endpointKind: purposeOf(endpointId), endpointId: shownEndpointId(endpointId) };
}

/** The kind must be specified. */
export function keptNotificationKind(kind: NotificationKind): KeptKind {
  if (kind === NotificationKind.RELAY) return 'relay';
  return kind === NotificationKind.OCT ? 'oct' : 'payment';
}
