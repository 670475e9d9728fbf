import type { Message } from '@bufbuild/protobuf';
import type { AuditSummary, Drift as DriftMessage, ProcessorEntries } from '../../../proto/gen/holdfast/v1/audit_pb.js';

export const DRIFTS = [
  /** The amount or the counters of a hold are not what its captures, increments and releases add up to. */
  'HOLD_COUNTERS',
  /** The status of a hold, or whether it is closing or changing, does not follow from its submissions. */
  'HOLD_STATE',
  /** A capture or release whose hold does not exist, or has another merchant or currency. */
  'SUBMISSION_WITHOUT_HOLD',
  /** A submission with a final result that the operation log does not contain. */
  'OPERATION_MISSING',
  /** A result in the log without a submission that ended. */
  'OPERATION_WITHOUT_SUBMISSION',
  /** The log and the submission differ in result or amount. */
  'OPERATION_DIFFERS',
  /** What was taken back of a capture is not what the log's reversals and reinstatements of it add up to. */
  'REVERSALS_DIFFER',
  /** What was refunded of a capture, or is reserved by refunds, is not what its refunds add up to. */
  'REFUNDS_DIFFER',
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
  /** An entry of the processor's books that breaks the contract, so it is not compared. */
  'INVALID_ENTRY',
] as const;
export type DriftKind = (typeof DRIFTS)[number];

/** One drift, as the contract tells it. */
export type Drift = Readonly<Omit<DriftMessage, keyof Message | 'kind'>> & { readonly kind: DriftKind };

/** How many entries a processor's books have. */
export type EntryCount = Readonly<Omit<ProcessorEntries, keyof Message>>;

/** What was looked at, as the contract tells it. */
export interface Audited extends Readonly<Omit<AuditSummary, keyof Message | 'ledgers'>> {
  readonly ledgers: EntryCount[];
  readonly unread: readonly Unread[];
}

/** A processor whose books could not be read, so they were not compared, and why, with its name. */
export interface Unread {
  readonly processor: string;
  readonly why: string;
}

/** Says of which processors the books were not compared. */
export function unreadText(unread: readonly Unread[]): string {
  return unread.map(({ why }) => why).join('; ');
}
