import type { OperationKind as ContractKind } from '../../../proto/gen/holdfast/v1/operation_pb.js';

/** What is always true of the operations of one kind. */
interface KindFacts {
  /** The table of its rows. Reversals and reinstatements have none of their own: they change an amount of their capture. */
  readonly table: string;
  /** ASKED = we send it to the processor, under its requestId; REPORTED = the processor does it, and reports it. */
  readonly origin: 'ASKED' | 'REPORTED';
  /** The statusInfo of a success (docs/product.md, "Notifications"). Another result is `declined` or `failed`. */
  readonly successWord: string;
  /** The status of a success. An expiry and a reversal take something from the merchant, so theirs is KO. */
  readonly successStatus: 'OK' | 'KO';
  readonly notification: 'payment' | 'oct';
  /** False = only merchants with notifyHolds are notified. */
  readonly alwaysNotified: boolean;
}

/** What we send to the processor. Unless a kind says otherwise, only merchants with notifyHolds are notified. */
const ASKED = { origin: 'ASKED', notification: 'payment', alwaysNotified: false } as const;
/** What the processor does, and reports. */
const REPORTED = { origin: 'REPORTED', notification: 'payment', alwaysNotified: true } as const;

/**
 * The kinds of operations. Everything that depends on a kind is derived from this record, or is a record that must have the same keys,
 * so the compiler names what a new kind lacks. The keys are those of OperationKind (proto/holdfast/v1/operation.proto).
 */
export const OPERATION_KINDS = {
  HOLD: { ...ASKED, table: 'hold', successWord: 'authorized', successStatus: 'OK' },
  CAPTURE: { ...ASKED, table: 'capture', successWord: 'captured', successStatus: 'OK', alwaysNotified: true },
  RELEASE: { ...ASKED, table: 'release', successWord: 'released', successStatus: 'OK' },
  EXPIRY: { ...ASKED, table: 'release', successWord: 'expired', successStatus: 'KO' },
  REVERSAL: { ...REPORTED, table: 'capture', successWord: 'reversed', successStatus: 'KO' },
  REINSTATEMENT: { ...REPORTED, table: 'capture', successWord: 'reinstated', successStatus: 'OK' },
  OCT: { ...ASKED, table: 'oct', successWord: 'paid', successStatus: 'OK', notification: 'oct', alwaysNotified: true },
} as const satisfies Record<Exclude<keyof typeof ContractKind, 'UNSPECIFIED'>, KindFacts>;

/** What an operation does. */
export type OperationKind = keyof typeof OPERATION_KINDS;

/** The kinds that we send to the processor. */
export type AskedKind = {
  [Kind in OperationKind]: (typeof OPERATION_KINDS)[Kind]['origin'] extends 'ASKED' ? Kind : never;
}[OperationKind];

/** The tables of what we send to the processor under an identifier of ours: submissions. */
export type SubmissionTable = (typeof OPERATION_KINDS)[AskedKind]['table'];

/** Where a submission stands: OK and KO are final. */
export type SubmissionState = 'PENDING' | 'UNKNOWN' | 'NEEDS_REVIEW' | 'OK' | 'KO';

/** The last segment of a notification's path. */
export type StatusInfo = (typeof OPERATION_KINDS)[OperationKind]['successWord'] | 'declined' | 'failed';

/** All of them, in the record's order. */
export const KIND_NAMES = Object.keys(OPERATION_KINDS) as OperationKind[];

/** The kinds that we send to the processor, in the record's order. */
export const ASKED_KINDS = KIND_NAMES.filter((kind): kind is AskedKind => OPERATION_KINDS[kind].origin === 'ASKED');
