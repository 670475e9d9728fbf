import { drawId } from '../../../platform/draw-id.ts';
import type { Told } from '../domain/contradiction.ts';
import type { HoldAfter } from '../domain/hold-after.ts';
import { notificationOf, OPERATION_KINDS, type OperationKind } from '../domain/kinds.ts';
import { BODY_FORM, notificationBody } from '../domain/notification-body.ts';
import { type Approved, type Card, type FinalOutcome, isOk, statusInfoOf, statusOf } from '../domain/outcome.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import type { KnownHold } from '../storage/hold/read-holds.ts';
import type { NewRow } from '../storage/input-columns.ts';
import type { ResultInput } from '../storage/operation/append-results.ts';
import type { OperationRow } from '../storage/operation/operation-row.ts';
import type { EndInput } from '../storage/submission/settle-submissions.ts';
import type { SubmissionRow } from '../storage/submission/submission-row.ts';
import type { Words } from './submission-request.ts';

/** The outcome that ends something, and when. */
export interface Ending {
  readonly outcome: FinalOutcome;
  readonly at: Date;
  /** It was imported from the processor's books. */
  readonly imported?: boolean | undefined;
  /** The way the outcome was received; absent = by the answer to the call. */
  readonly told?: Told | undefined;
  /** W3C traceparent, while tracing is on. */
  readonly traceParent?: string | undefined;
}

/** The fields of a submission that its end needs; none of them changes. */
export type SettledFields = NewRow<
  SubmissionRow,
  | 'requestId'
  | 'holdRequestId'
  | 'authorizationId'
  | 'captureRequestId'
  | 'amount'
  | 'finalCapture'
  | 'merchantId'
  | 'currency'
  | 'createdAt'
> &
  NewRow<SubmissionRow, 'terminalId' | 'userId'> &
  Partial<Words> & {
    readonly reported?: boolean | undefined;
  };

/** The subject of an operation, as its result shows it. */
export type Subject = NewRow<HoldRow, 'merchantId' | 'terminalId' | 'userId' | 'amount' | 'currency'> &
  NewRow<HoldRow, 'merchantReference' | 'notifyHolds'> &
  NewRow<SubmissionRow, 'holdRequestId' | 'captureRequestId'> &
  NewRow<OperationRow, 'refundRequestId' | 'octRequestId' | 'correctsRequestId'> & {
    /** The hold, as the settling statement leaves it; undefined = it has none. */
    readonly after: HoldAfter | undefined;
    readonly card?: Card | undefined;
    /** Why the processor takes something back; absent = what its outcome says. */
    readonly because?: { readonly code: string; readonly message: string } | undefined;
    /** The merchant's own data about this operation. */
    readonly words?: Partial<Words> | undefined;
  };

/** Builds the row of the operation log and the notification of a final outcome. */
export function resultOf(
  requestId: string,
  kind: OperationKind,
  subject: Subject,
  { outcome, at, imported, traceParent }: Ending,
): ResultInput {
  const { alwaysNotified } = OPERATION_KINDS[kind];
  const { after } = subject;
  const approved = isOk(outcome) ? outcome : undefined;
  const refused = subject.because ?? (isOk(outcome) ? undefined : outcome);
  const statusInfo = statusInfoOf(kind, outcome);
  const common = {
    requestId,
    status: statusOf(kind, outcome),
    statusInfo,
    merchantId: subject.merchantId,
    currency: subject.currency,
    holdRequestId: subject.holdRequestId,
    captureRequestId: subject.captureRequestId,
    refundRequestId: subject.refundRequestId,
    octRequestId: subject.octRequestId,
    correctsRequestId: subject.correctsRequestId,
    merchantReference: subject.words?.merchantReference ?? subject.merchantReference,
    metadata: subject.words?.metadata,
    reason: subject.words?.reason,
    processorCode: refused?.code,
    processorMessage: refused?.message,
    bodyForm: BODY_FORM,
    ...after,
  } as const;
  const isNotified = alwaysNotified || subject.notifyHolds;
  return {
    ...common,
    subjectId: requestId,
    kind,
    terminalId: subject.terminalId,
    userId: subject.userId,
    amount: subject.amount,
    processorReference: approved?.reference || undefined,
    bankReference: approved?.bankReference || undefined,
    finalStateDate: at,
    delivery: isNotified
      ? {
          id: drawId(),
          kind: notificationOf(kind, subject),
          body: notificationBody({
            ...common,
            amount: subject.amount,
            operation: kind,
            card: subject.card ?? outcome.card,
            generatedTokenId: kind === 'HOLD' ? approved?.generatedTokenId : undefined,
            expiresAt: PROLONGING.has(kind) && approved ? after?.expiresAtAfter : undefined,
            guaranteedUntil: GUARANTEEING.has(kind) && approved ? after?.guaranteedUntilAfter : undefined,
            reference: approved?.reference || undefined,
            finalStateDate: at,
            imported,
          }),
          traceParent,
        }
      : undefined,
  };
}

/**
 * Builds the body of the notification of a result that is in the log, as resultOf() and the statement that stored it
 * did.
 */
export function notifiedBody(result: OperationRow, facts: CardColumns & Kept): string {
  const sequence = result.holdSequence === null ? '' : `,"sequence":${result.holdSequence}`;
  const body = notificationBody({
    ...result,
    operation: result.kind,
    card: cardOf(facts),
    generatedTokenId: facts.generatedTokenId,
    expiresAt: facts.expiresAt,
    guaranteedUntil: facts.guaranteedUntil,
    reference: result.processorReference,
    imported: facts.imported,
  });
  return `${body.slice(0, -1)}${sequence},"position":${result.sequence}}`;
}

/** The part of a result that is stored outside the log. */
interface Kept {
  readonly generatedTokenId?: string | null | undefined;
  readonly imported: boolean;
  readonly expiresAt: Date | null;
  readonly guaranteedUntil: Date | null;
}

/** The kinds after which the card scheme may guarantee a hold longer, or for a shorter time. */
const GUARANTEEING: ReadonlySet<OperationKind> = new Set(['HOLD', 'INCREMENT', 'EXTENSION', 'RENEWAL']);

/** The kinds after which a hold may end later. */
const PROLONGING: ReadonlySet<OperationKind> = new Set(['EXTENSION', 'RENEWAL']);

/** The stored fields of every end, as statements take them. */
export function endInput(requestId: string, { outcome, at }: Ending): Omit<EndInput, 'operation'> {
  const common = { requestId, ok: isOk(outcome), at: at.toISOString() };
  if (isOk(outcome)) return { ...common, processorReference: outcome.reference };
  return { ...common, processorCode: outcome.code, processorMessage: outcome.message };
}

/** The same for submissions on a hold. */
export function endOnHold(
  { requestId }: SettledFields,
  { requestId: holdRequestId, version }: KnownHold,
  ending: Ending,
) {
  const bankReference = isOk(ending.outcome) ? ending.outcome.bankReference : undefined;
  return { ...endInput(requestId, ending), bankReference, holdRequestId, version };
}

/** The subject of an operation on a hold, which leaves it `after`; `words` = what the merchant said of it. */
export function subjectOn(hold: KnownHold, after: HoldAfter, amount: bigint, words?: Partial<Words>): Subject {
  return { ...hold, after, amount, card: cardOf(hold), holdRequestId: hold.requestId, words };
}

/** The amount that the processor says it gave back, minor units; undefined = it does not say. */
export function givenBackBy(outcome: FinalOutcome): bigint | undefined {
  return isOk(outcome) ? outcome.amountReleased : undefined;
}

/**
 * The end of a hold: the contract's period from now, or the processor's end when that is earlier (docs/merchants.md,
 * "Contract of a merchant").
 */
export function expiryOf(hold: { holdPeriodS: number }, at: Date, processorEnd: Date | undefined): Date {
  const contractEnd = new Date(at.getTime() + hold.holdPeriodS * 1_000);
  return earlier(processorEnd, contractEnd);
}

/** How long the card scheme guarantees a new hold, never after its end; undefined = the processor has not said. */
export function guaranteeOf({ guaranteedUntil }: Approved, expiresAt: Date): Date | undefined {
  return guaranteedUntil && earlier(guaranteedUntil, expiresAt);
}

/** The earlier of two times, of which the first may be unknown. */
export function earlier(time: Date | undefined, other: Date): Date {
  return time && time < other ? time : other;
}

/** The columns of a card, of which some may be null or left out. */
type CardColumns = { readonly [Name in `card${string}` & keyof HoldRow]?: HoldRow[Name] | undefined };

/** The card of a row. */
export function cardOf(row: CardColumns): Card | undefined {
  if (!row.cardLast4) return undefined;
  return {
    brand: row.cardBrand ?? '',
    last4: row.cardLast4,
    expiryMonth: row.cardExpiryMonth ?? 0,
    expiryYear: row.cardExpiryYear ?? 0,
    ...(row.cardFunding && { funding: row.cardFunding }),
    ...(row.cardThreeDSecure && { threeDSecure: row.cardThreeDSecure }),
    ...(row.cardDeclineCode && { declineCode: row.cardDeclineCode }),
  };
}
