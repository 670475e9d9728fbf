import type { HoldAfter } from './hold-after.ts';
import { notificationOf, type OperationKind, type StatusInfo } from './kinds.ts';
import { OPERATIONAL_TYPES, type OperationalType } from './notification-types.ts';
import type { Card } from './outcome.ts';

/**
 * The form of a body: null = the first one, 1 = it also has its type, the processor's refusal and the hold. A result
 * keeps the form of its body, so that the same bytes are made again.
 */
export type BodyForm = 1 | null;

/** The form of new bodies. */
export const BODY_FORM = 1;

/** The contents of a notification (docs/notifications.md). */
export interface NotificationFields extends Partial<Nullable<HoldAfter>> {
  readonly bodyForm?: BodyForm | undefined;
  readonly merchantId: string;
  readonly requestId: string;
  readonly status: 'OK' | 'KO';
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  readonly card?: Card | undefined;
  /** Only when a token was generated. */
  readonly generatedTokenId?: string | null | undefined;
  readonly reference?: string | null | undefined;
  /** Why it is KO, as the processor said. */
  readonly processorCode?: string | null | undefined;
  readonly processorMessage?: string | null | undefined;
  readonly finalStateDate: Date;
  /** Of an extension: when the hold ends now. */
  readonly expiresAt?: Date | null | undefined;
  /** Of a hold, increment or extension: how long the card scheme guarantees the hold now. */
  readonly guaranteedUntil?: Date | null | undefined;
  readonly operation: OperationKind;
  readonly statusInfo: StatusInfo;
  readonly holdRequestId?: string | null | undefined;
  readonly captureRequestId?: string | null | undefined;
  readonly refundRequestId?: string | null | undefined;
  readonly octRequestId?: string | null | undefined;
  readonly correctsRequestId?: string | null | undefined;
  readonly merchantReference?: string | null | undefined;
  /** The merchant's own data about this operation. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly reason?: string | null | undefined;
  /** It was imported from the processor's books: the merchant may have been told before. */
  readonly imported?: boolean | undefined;
}

type Nullable<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | null | undefined };

/**
 * Builds the notification's body. The statement that stores it appends `sequence` and `position`
 * (storage/operation/append-results.ts); from then on these bytes are those of every attempt. The amount is printed
 * once, here, and signed as printed.
 */
export function notificationBody(fields: NotificationFields): string {
  return JSON.stringify({
    merchantId: fields.merchantId,
    requestId: fields.requestId,
    status: fields.status,
    amount: Number(fields.amount),
    currency: fields.currency,
    ...(fields.card && { paymentMethodData: { type: 'card', ...fields.card } }),
    ...(fields.generatedTokenId && { tokenData: { tokenId: fields.generatedTokenId } }),
    ...(fields.reference && { reference: fields.reference }),
    finalStateDate: fields.finalStateDate.toISOString(),
    ...(fields.expiresAt && { expiresAt: fields.expiresAt.toISOString() }),
    ...(fields.guaranteedUntil && { guaranteedUntil: fields.guaranteedUntil.toISOString() }),
    operation: fields.operation,
    ...(fields.bodyForm === BODY_FORM && whatHappened(fields)),
    ...(fields.holdRequestId && { holdRequestId: fields.holdRequestId }),
    ...(fields.captureRequestId && { captureRequestId: fields.captureRequestId }),
    ...(fields.refundRequestId && { refundRequestId: fields.refundRequestId }),
    ...(fields.octRequestId && { octRequestId: fields.octRequestId }),
    ...(fields.correctsRequestId && { correctsRequestId: fields.correctsRequestId }),
    ...(fields.merchantReference && { merchantReference: fields.merchantReference }),
    ...(fields.reason && { reason: fields.reason }),
    ...(fields.metadata && { metadata: inOrder(fields.metadata) }),
    ...(fields.imported && { imported: true }),
  });
}

/** What the first form does not have. */
function whatHappened(fields: NotificationFields): object {
  return {
    type: `${notificationOf(fields.operation, fields)}.${fields.statusInfo}`,
    ...(fields.processorCode && { processorCode: fields.processorCode }),
    ...(fields.processorMessage && { processorMessage: fields.processorMessage }),
    ...(fields.statusAfter && { hold: holdIn(fields) }),
  };
}

/** The hold under the names of `GET /preauthorization/{requestId}`. */
function holdIn(fields: NotificationFields): object {
  return {
    status: fields.statusAfter,
    phase: fields.phaseAfter,
    amount: Number(fields.amountAfter),
    amountCaptured: Number(fields.capturedAfter),
    amountRemaining: Number(fields.remainingAfter),
    amountReleased: Number(fields.releasedAfter),
    amountRefunded: Number(fields.refundedAfter),
    amountReversed: Number(fields.reversedAfter),
    ...(fields.expiresAtAfter && { expiresAt: fields.expiresAtAfter.toISOString() }),
    ...(fields.guaranteedUntilAfter && { guaranteedUntil: fields.guaranteedUntilAfter.toISOString() }),
  };
}

/** Sorts metadata by name: the database does not keep the order, and a repeated notification must be the same. */
export function inOrder(metadata: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
}

type NotOfOperation = Pick<NotificationFields, 'merchantId' | 'requestId' | 'currency'>;

/** Builds the body of a test notification, which is about nothing, moves no money, and says so. */
export function testNotificationBody(of: NotOfOperation, at: Date): string {
  return JSON.stringify({ ...withoutOperation(of, 'OK', at), type: 'payment.test', test: true });
}

/** What an operational notification is about. `endpointId` is the name that callers know. */
export interface OperationalSubject {
  readonly endpointId: string;
  /** Why the endpoint is paused. */
  readonly pause?: string;
  /** When the first failure since its last success was. */
  readonly failingSince?: Date | null;
  /** When the breaker's pause ends. */
  readonly pausedUntil?: Date | null;
  /** The dead delivery. */
  readonly delivery?: { readonly deliveryId: string; readonly requestId: string; readonly type: string };
  readonly signingSecretId?: string;
  readonly expiresAt?: Date;
}

/** Builds the body of a notification about an endpoint or a secret of a merchant. It is about no operation. */
export function operationalBody(
  of: NotOfOperation,
  type: OperationalType,
  { failingSince, ...subject }: OperationalSubject,
  at: Date,
): string {
  const since = failingSince && { failingSince };
  return JSON.stringify({ ...withoutOperation(of, OPERATIONAL_TYPES[type], at), type, ...subject, ...since });
}

/** The fields that every body has, so that both signatures can be made. */
function withoutOperation({ merchantId, requestId, currency }: NotOfOperation, status: 'OK' | 'KO', at: Date) {
  return { merchantId, requestId, status, amount: 0, currency, finalStateDate: at.toISOString() };
}
