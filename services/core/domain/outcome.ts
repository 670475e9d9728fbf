/**
 * The life of an operation, in the six words that all rooms use:
 *
 * - judge: the conditions of a request are checked in the documented order; one that does not meet them is refused.
 * - store: it is written as pending; that claims its identifiers, and reserves its amount on a hold, if it has one.
 * - send: the processor is called. Its answer, or that there is none, is the *outcome*.
 * - settle: a final outcome ends it; that changes the books of its hold and appends its *result* to the log.
 * - announce: workers and streams learn that there is a result.
 * - recover: one without a final outcome is inquired about, until it is settled or an operator decides.
 */
import type { Capabilities } from './hold-rules.ts';
import { OPERATION_KINDS, type OperationKind, type StatusInfo } from './kinds.ts';

/** The processor's answer, or UNKNOWN when there is none that can be relied on. */
export type Outcome = FinalOutcome | Accepted | { readonly answer: 'UNKNOWN' };

/** Accepted, but not ended yet: the result follows by an event, or an inquiry finds it; normally until expectedBy. */
export interface Accepted {
  readonly answer: 'ACCEPTED';
  readonly expectedBy?: Date | undefined;
  /** An authorization waits for its customer, whom the issuer authenticates there. */
  readonly page?: Page | undefined;
}

/** A page that a hold's customer goes to; it is open until expiresAt, or as long as was asked. */
export interface Page {
  readonly url: string;
  readonly expiresAt?: Date | undefined;
}

/** An outcome that ends an operation. */
export type FinalOutcome = Approved | Declined | NotPerformed;

export interface Approved {
  readonly answer: 'APPROVED';
  readonly reference: string;
  readonly bankReference: string;
  readonly expiresAt?: Date | undefined;
  /** How long the card scheme guarantees the reservation; absent = not known. */
  readonly guaranteedUntil?: Date | undefined;
  readonly card?: Card | undefined;
  readonly generatedTokenId?: string | undefined;
  /** The card network's identifier of an authorization. */
  readonly networkTransactionId?: string | undefined;
  /** Of an authorization: what it can do; absent = not known. */
  readonly capabilities?: Capabilities | undefined;
  /** Of a void or capture: what it gave back, minor units; absent = not said. */
  readonly amountReleased?: bigint | undefined;
  /** The amount really authorized, captured, added, refunded or paid, minor units; absent = the amount asked for. */
  readonly amount?: bigint | undefined;
  /** Of a renewal that is imported: the processor's books show that its hold did not count on it. */
  readonly isOvertaken?: boolean | undefined;
}
export interface Declined {
  readonly answer: 'DECLINED';
  readonly code: string;
  readonly message: string;
  readonly card?: Card | undefined;
}
export interface NotPerformed extends Omit<Declined, 'answer'> {
  readonly answer: 'NOT_PERFORMED';
}

/** Partial information about a card, and about its authorization. */
export interface Card {
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  /** credit, debit or prepaid. */
  readonly funding?: string;
  /** The result of 3-D Secure: authenticated, attempted, exempted or failed. */
  readonly threeDSecure?: string;
  /** The card network's code of the decline. */
  readonly declineCode?: string;
}

/** The identifier under which a submission is sent to the processor. */
export function identifierOf(submission: {
  readonly requestId: string;
  /** Derived from the Idempotency-Key; null or absent = the requestId is sent. */
  readonly processorRequestId?: string | null | undefined;
}): string {
  return submission.processorRequestId ?? submission.requestId;
}

/** Returns whether an outcome ends its operation. */
export function isFinal(outcome: Outcome): outcome is FinalOutcome {
  return outcome.answer !== 'UNKNOWN' && outcome.answer !== 'ACCEPTED';
}

/** Returns whether a final outcome is a success. */
export function isOk(outcome: FinalOutcome): outcome is Approved {
  return outcome.answer === 'APPROVED';
}

/** The word for how an operation ended: the kind's own if it has one, else declined or failed. */
export function statusInfoOf(kind: OperationKind, outcome: FinalOutcome): StatusInfo {
  const facts = OPERATION_KINDS[kind];
  if (isOk(outcome) || facts.successStatus === 'EITHER') return facts.successWord;
  if ('failureWord' in facts) return facts.failureWord;
  return outcome.answer === 'DECLINED' ? 'declined' : 'failed';
}

/** The status of how an operation ended: the kind's own when it was done, else KO. */
export function statusOf(kind: OperationKind, outcome: FinalOutcome): 'OK' | 'KO' {
  const { successStatus } = OPERATION_KINDS[kind];
  if (!isOk(outcome)) return 'KO';
  return successStatus === 'EITHER' ? 'OK' : successStatus;
}

/** The error code of the contract (proto/holdfast/processor/v1) for an identifier that was used for something else. */
export const IDENTIFIER_REUSED = 'identifier_reused';

/** Never received and, fenced, never to be performed. A void that must happen is sent again, under a new identifier. */
export const NEVER_RECEIVED: FinalOutcome = {
  answer: 'NOT_PERFORMED',
  code: 'never_received',
  message: 'The processor never received it.',
};
