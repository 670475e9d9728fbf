import type { OperationKind as ContractKind } from '../../../proto/gen/holdfast/v1/operation_pb.js';

/** The fixed properties of the operations of one kind. */
interface KindFacts {
  /** The statusInfo of a success (docs/verify-webhooks.md, "Paths"). */
  readonly successWord: string;
  /** That of any other result; absent = `declined` or `failed`. */
  readonly failureWord?: string;
  /**
   * The status of a success. An expiry and a reversal take something from the merchant, and a return undoes what the
   * merchant wanted, so theirs is KO. EITHER = that of the outcome, OK or KO, and the word says it of both.
   */
  readonly successStatus: 'OK' | 'KO' | 'EITHER';
  /** EITHER = about a payment when it is on a hold, else about an OCT. */
  readonly notification: 'payment' | 'oct' | 'EITHER';
  /** False = only merchants with notifyHolds are notified. */
  readonly alwaysNotified: boolean;
}

const OFTEN = { notification: 'payment', alwaysNotified: false } as const;
const ALWAYS = { notification: 'payment', alwaysNotified: true } as const;

/**
 * The kinds of operations: what has a result in the log. Everything that depends on a kind is derived from this record,
 * or is a record that must have the same keys, so the compiler names what a new kind lacks. The keys are those of
 * OperationKind (proto/holdfast/v1/operation.proto).
 */
export const OPERATION_KINDS = {
  HOLD: { ...OFTEN, successWord: 'authorized', successStatus: 'OK' },
  CAPTURE: { ...ALWAYS, successWord: 'captured', successStatus: 'OK' },
  RELEASE: { ...OFTEN, successWord: 'released', successStatus: 'OK' },
  PARTIAL_RELEASE: { ...OFTEN, successWord: 'partially_released', successStatus: 'OK' },
  EXPIRY: { ...OFTEN, successWord: 'expired', successStatus: 'KO' },
  REVERSAL: { ...ALWAYS, successWord: 'reversed', successStatus: 'KO' },
  REINSTATEMENT: { ...ALWAYS, successWord: 'reinstated', successStatus: 'OK' },
  INCREMENT: { ...OFTEN, successWord: 'incremented', successStatus: 'OK' },
  EXTENSION: { ...OFTEN, successWord: 'extended', successStatus: 'OK' },
  REFUND: { ...ALWAYS, successWord: 'refunded', successStatus: 'OK' },
  REFUND_RETURN: { ...ALWAYS, successWord: 'refund_returned', successStatus: 'KO' },
  RENEWAL: { ...ALWAYS, successWord: 'renewed', failureWord: 'renewal_declined', successStatus: 'OK' },
  EXPIRING: { ...ALWAYS, successWord: 'expiring', successStatus: 'OK' },
  OCT: { ...ALWAYS, notification: 'oct', successWord: 'paid', successStatus: 'OK' },
  CORRECTION: { alwaysNotified: true, notification: 'EITHER', successWord: 'corrected', successStatus: 'EITHER' },
  OCT_RETURN: { ...ALWAYS, notification: 'oct', successWord: 'returned', successStatus: 'KO' },
} as const satisfies Record<Exclude<keyof typeof ContractKind, 'UNSPECIFIED'>, KindFacts>;

/** The kind of an operation. */
export type OperationKind = keyof typeof OPERATION_KINDS;

/** The fixed properties of the submissions of one kind. */
interface SubmissionFacts {
  /** The operation that its result is; null = it has no result of its own in the log. */
  readonly operation: OperationKind | null;
  /** Its kind in a processor's books: a name of EntryKind (proto/holdfast/processor/v1). */
  readonly entry: 'AUTHORIZATION' | 'CAPTURE' | 'VOID' | 'REFUND' | 'CREDIT' | 'INCREMENT' | 'DECREASE' | 'EXTENSION';
  /** The part of the hold that its amount is reserved from; null = it reserves nothing. */
  readonly reserves: 'REMAINING' | 'CAPTURED' | null;
  /** It must happen sooner or later: a refusal by the processor does not end it, but needs an operator. */
  readonly mustHappen: boolean;
}

/**
 * The kinds of submissions: operations sent to a processor under an identifier of ours, other than the placing of
 * holds. A RENEWAL authorizes anew what remains of a hold. A LATE_VOID gives back an authorization that its hold does
 * not count on: one that arrived after the hold had failed, or that a renewal has replaced.
 */
export const SUBMISSION_KINDS = {
  CAPTURE: { operation: 'CAPTURE', entry: 'CAPTURE', reserves: 'REMAINING', mustHappen: false },
  RELEASE: { operation: 'RELEASE', entry: 'VOID', reserves: 'REMAINING', mustHappen: false },
  PARTIAL_RELEASE: { operation: 'PARTIAL_RELEASE', entry: 'DECREASE', reserves: 'REMAINING', mustHappen: false },
  EXPIRY: { operation: 'EXPIRY', entry: 'VOID', reserves: 'REMAINING', mustHappen: true },
  LATE_VOID: { operation: null, entry: 'VOID', reserves: null, mustHappen: true },
  INCREMENT: { operation: 'INCREMENT', entry: 'INCREMENT', reserves: null, mustHappen: false },
  EXTENSION: { operation: 'EXTENSION', entry: 'EXTENSION', reserves: null, mustHappen: false },
  RENEWAL: { operation: 'RENEWAL', entry: 'AUTHORIZATION', reserves: null, mustHappen: false },
  REFUND: { operation: 'REFUND', entry: 'REFUND', reserves: 'CAPTURED', mustHappen: false },
  OCT: { operation: 'OCT', entry: 'CREDIT', reserves: null, mustHappen: false },
} as const satisfies Record<string, SubmissionFacts>;

export type SubmissionKind = keyof typeof SUBMISSION_KINDS;

/** The kinds that change the books of a hold. */
export type KindOnHold = Exclude<SubmissionKind, 'OCT'>;

/** All that is sent to a processor under an identifier of ours: the placing of holds, and submissions. */
export type SentKind = 'HOLD' | SubmissionKind;

/** Everything that is sent, in the order of the records. */
export const SENT_KINDS: readonly SentKind[] = ['HOLD', ...(Object.keys(SUBMISSION_KINDS) as SubmissionKind[])];

/** Returns whether it must happen sooner or later, so that only an operator may end it without success. */
export function mustHappen(kind: SentKind): boolean {
  return kind !== 'HOLD' && SUBMISSION_KINDS[kind].mustHappen;
}

/** Progress of a submission: OK and KO are final. */
export type SubmissionState = 'PENDING' | 'UNKNOWN' | 'NEEDS_REVIEW' | 'OK' | 'KO';

/** The last segment of a notification's path. */
export type StatusInfo =
  | (typeof OPERATION_KINDS)[OperationKind]['successWord']
  | (typeof OPERATION_KINDS)['RENEWAL']['failureWord']
  | 'declined'
  | 'failed';

/** The notification of a result. */
export function notificationOf(
  kind: OperationKind,
  { holdRequestId }: { readonly holdRequestId?: string | null | undefined },
): 'payment' | 'oct' {
  const { notification } = OPERATION_KINDS[kind];
  if (notification !== 'EITHER') return notification;
  return holdRequestId == null ? 'oct' : 'payment';
}

/** All of them, in the record's order. */
export const KIND_NAMES = Object.keys(OPERATION_KINDS) as OperationKind[];
