import { v7 as uuidv7 } from 'uuid';
import { AGAIN } from '../../../platform/gather.ts';
import type { HoldBooks } from '../domain/hold.ts';
import { OPERATION_KINDS, type OperationKind } from '../domain/kinds.ts';
import { notificationBody } from '../domain/notification.ts';
import { type Card, type FinalOutcome, isOk, statusInfoOf, statusOf } from '../domain/operation.ts';
import type { Database } from '../storage/database.ts';
import type { OperationInput } from '../storage/operation/operation-log.ts';
import type { Settled } from '../storage/operation/settle-submissions.ts';

/** How a submission ended. */
export interface End {
  readonly outcome: FinalOutcome;
  readonly at: Date;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** A write that ended operations: whether it changed its subject, and which deliveries it made. */
export interface Ended {
  readonly changed: boolean;
  readonly deliveries: readonly { readonly id: string; readonly endpoint: string }[];
  /** The result, when it was written and has a notification. */
  readonly result?: Pick<OperationInput, 'kind' | 'status' | 'statusInfo'> | undefined;
  /** Of a capture: the hold's books right after it. */
  readonly books?: HoldBooks | undefined;
  /** The processor gave back something else than what our books had left; it reported more than there is to take back or to give again. */
  readonly fault?: 'DIFFERS' | 'TOO_MUCH' | undefined;
}

/** Nothing was written, because there was nothing to end. */
export const NOTHING_ENDED: Ended = { changed: false, deliveries: [] };

/** An end by a statement of its own. Those with the same key (an operation) run one after another. */
export interface RareEnd {
  readonly key: string;
  /** AGAIN = the hold was locked or has changed. */
  run(database: Database): Promise<Ended | typeof AGAIN>;
}

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
  { outcome, at, traceParent }: End,
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

/** What became of the ends of one statement; AGAIN = somebody else had locked the row. */
export function endedEach(settled: Settled, results: readonly { requestId: string; operation: OperationInput }[]) {
  return results.map(({ requestId, operation }) =>
    settled.locked.has(requestId) ? endedOf(settled, operation) : AGAIN,
  );
}

/** What is stored of each end, as statements take it. */
export function endColumns(requestId: string, { outcome, at }: End) {
  const answer = isOk(outcome)
    ? { processorReference: outcome.reference }
    : { processorCode: outcome.code.slice(0, 64), processorMessage: outcome.message.slice(0, 500) };
  return { ...answer, requestId, ok: isOk(outcome), at: at.toISOString() };
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
