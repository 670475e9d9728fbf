import { v7 as uuidv7 } from 'uuid';
import { OPERATION_KINDS, type OperationKind } from '../domain/kinds.ts';
import { notificationBody } from '../domain/notification.ts';
import { type Card, type FinalOutcome, isOk, statusInfoOf, statusOf } from '../domain/operation.ts';
import type { OperationInput } from '../storage/operation/operation-log.ts';
import type { Settled } from '../storage/operation/settle-submissions.ts';
import type { Ended } from './outcomes.ts';

/** The subject of an operation, as its result shows it. Money in minor units. */
export interface Subject {
  readonly merchantId: string;
  readonly terminalId: string;
  readonly userId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly merchantReference?: string | null | undefined;
  readonly card?: Card | undefined;
  readonly holdRequestId?: string | undefined;
  readonly captureRequestId?: string | undefined;
  /** Whether this merchant is notified of holds placed, declined, released and expired. */
  readonly notifyHolds: boolean;
}

/** Builds the row of the operation log and the notification of a final outcome. */
export function resultOf(
  requestId: string,
  kind: OperationKind,
  subject: Subject,
  outcome: FinalOutcome,
  at: Date,
  traceParent?: string | undefined,
): OperationInput {
  const { alwaysNotified, notification } = OPERATION_KINDS[kind];
  const statusInfo = statusInfoOf(kind, outcome);
  const common = {
    requestId,
    status: statusOf(statusInfo),
    statusInfo,
    merchantId: subject.merchantId,
    currency: subject.currency,
    holdRequestId: subject.holdRequestId,
    captureRequestId: subject.captureRequestId,
    merchantReference: subject.merchantReference ?? undefined,
  };
  const approved = isOk(outcome) ? outcome : undefined;
  const refused = isOk(outcome) ? undefined : outcome;
  const body = () =>
    notificationBody({
      ...common,
      amount: subject.amount,
      operation: kind,
      card: approved?.card ?? subject.card,
      generatedTokenId: kind === 'HOLD' ? approved?.generatedTokenId : undefined,
      reference: approved?.reference || undefined,
      finalStateDate: at,
    });
  return {
    ...common,
    subjectId: requestId,
    kind,
    terminalId: subject.terminalId,
    userId: subject.userId,
    amount: subject.amount.toString(),
    processorReference: approved?.reference || undefined,
    bankReference: approved?.bankReference || undefined,
    processorCode: refused?.code,
    processorMessage: refused?.message,
    finalStateDate: at.toISOString(),
    delivery:
      alwaysNotified || subject.notifyHolds
        ? { id: uuidv7(), endpointKind: 'webhook', kind: notification, body: body(), traceParent }
        : undefined,
  };
}

/** The outcome of a settling statement for one of its operations. */
export function endedOf(settled: Settled, operation: OperationInput): Ended {
  const { delivery, kind, status, statusInfo } = operation;
  return {
    changed: settled.changed.has(operation.subjectId),
    deliveries:
      delivery && settled.deliveryIds.has(delivery.id)
        ? [{ id: delivery.id, endpoint: `${operation.merchantId}/${delivery.endpointKind}` }]
        : [],
    result: { kind, status, statusInfo },
  };
}

/** The columns of the processor's answer. */
export function outcomeColumns(outcome: FinalOutcome) {
  return isOk(outcome)
    ? { processorReference: outcome.reference, card: outcome.card }
    : { processorCode: outcome.code.slice(0, 64), processorMessage: outcome.message.slice(0, 500) };
}

/** The card, as columns. */
export function cardOf(row: {
  cardBrand?: string | null | undefined;
  cardLast4?: string | null | undefined;
  cardExpiryMonth?: number | null | undefined;
  cardExpiryYear?: number | null | undefined;
}): Card | undefined {
  if (!row.cardLast4) return undefined;
  return {
    brand: row.cardBrand ?? '',
    last4: row.cardLast4,
    expiryMonth: row.cardExpiryMonth ?? 0,
    expiryYear: row.cardExpiryYear ?? 0,
  };
}
