/** What can be wrong with the books. Each word names one kind of drift, for people and programs. */
export const DRIFTS = [
  /** The counters of a hold are not what its captures and releases add up to. */
  'HOLD_COUNTERS',
  /** The status of a hold, or whether it is closing, does not follow from its captures and releases. */
  'HOLD_STATE',
  /** A capture or release whose hold is not there, or is another merchant's or in another currency. */
  'ATTEMPT_WITHOUT_HOLD',
  /** An attempt has its final result and the log of operations knows nothing of it. */
  'OPERATION_MISSING',
  /** The log has a result of which there is no attempt, or none that ended. */
  'OPERATION_WITHOUT_ATTEMPT',
  /** The log tells another result or amount than the attempt. */
  'OPERATION_DIFFERS',
  /** The log tells one result twice. */
  'OPERATION_TWICE',
  /** We booked something as done that the processor did not do. */
  'NOT_DONE_AT_PROCESSOR',
  /** The processor did something that we booked as not done. */
  'DONE_AT_PROCESSOR',
  /** The processor did something under an identifier that is none of ours. */
  'UNKNOWN_HERE',
  /** Both know it, with another amount, currency or merchant. */
  'AMOUNT_AT_PROCESSOR',
  /** The sums of an authorization (charged, given back, taken back) are not those of our hold. */
  'SUMS_AT_PROCESSOR',
] as const;
export type DriftKind = (typeof DRIFTS)[number];

/** One thing that is wrong. */
export interface Drift {
  readonly kind: DriftKind;
  /** The hold, capture, release, OCT or operation. */
  readonly requestId: string;
  readonly merchantId: string;
  /** What should be there and what is, in words; amounts are minor units. */
  readonly expected: string;
  readonly found: string;
}

/** What was looked at. */
export interface Audited {
  readonly holds: number;
  readonly captures: number;
  readonly releases: number;
  readonly octs: number;
  readonly operations: number;
  /** Attempts without a result: not drift, but not compared either. */
  readonly inFlight: number;
  /** Entries of the processor's books. */
  readonly entries: number;
  /** All that was found, reported or not. */
  readonly drifts: number;
}
