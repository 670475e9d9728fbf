/** What an operation does. */
export type OperationKind = 'HOLD' | 'CAPTURE' | 'RELEASE' | 'EXPIRY' | 'REVERSAL' | 'OCT';

/** Where an attempt stands: OK and KO are final. */
export type AttemptState = 'PENDING' | 'UNKNOWN' | 'NEEDS_REVIEW' | 'OK' | 'KO';

/** The last segment of a notification's path (docs/product.md, "Notifications"). */
export type StatusInfo =
  | 'authorized'
  | 'declined'
  | 'failed'
  | 'captured'
  | 'reversed'
  | 'released'
  | 'expired'
  | 'paid';

/** What the processor said, or that it said nothing that can be relied on. */
export type Outcome = Approved | Declined | NotPerformed | Unknown;

export interface Approved {
  readonly answer: 'APPROVED';
  readonly reference: string;
  readonly bankReference: string;
  readonly expiresAt?: Date | undefined;
  readonly card?: Card | undefined;
  readonly generatedTokenId?: string | undefined;
}
export interface Declined {
  readonly answer: 'DECLINED';
  readonly code: string;
  readonly message: string;
}
export interface NotPerformed {
  readonly answer: 'NOT_PERFORMED';
  readonly code: string;
  readonly message: string;
}
export interface Unknown {
  readonly answer: 'UNKNOWN';
}

/** An outcome that ends an operation. */
export type FinalOutcome = Exclude<Outcome, Unknown>;

/** Partial information about a card. */
export interface Card {
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
}

/** Whether a final outcome is a success. */
export function isOk(outcome: FinalOutcome): outcome is Approved {
  return outcome.answer === 'APPROVED';
}

const SUCCESS_WORD = {
  HOLD: 'authorized',
  CAPTURE: 'captured',
  RELEASE: 'released',
  EXPIRY: 'expired',
  REVERSAL: 'reversed',
  OCT: 'paid',
} as const satisfies Record<OperationKind, StatusInfo>;

/** The word for how an operation ended: the kind's own when it was done, else declined or failed. */
export function statusInfoOf(kind: OperationKind, outcome: FinalOutcome): StatusInfo {
  if (outcome.answer === 'APPROVED') return SUCCESS_WORD[kind];
  return outcome.answer === 'DECLINED' ? 'declined' : 'failed';
}

/** The result that goes with a word: an expiry and a reversal take something from the merchant, so they are KO although they were done. */
export function statusOf(statusInfo: StatusInfo): 'OK' | 'KO' {
  return statusInfo === 'authorized' || statusInfo === 'captured' || statusInfo === 'released' || statusInfo === 'paid'
    ? 'OK'
    : 'KO';
}

/** Never seen, and now never to be seen: it is KO. A void that must happen gets a new identifier. */
export const NEVER_RECEIVED: FinalOutcome = {
  answer: 'NOT_PERFORMED',
  code: 'never_received',
  message: 'The processor never received it.',
};
