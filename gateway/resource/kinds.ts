import type { OperationKind as ContractKind } from '../../proto/gen/holdfast/v1/operation_pb.js';

/** What the edge knows of a kind of operation. */
interface KindWords {
  /** The statusInfo of a success, and its status. */
  readonly successWord: string;
  readonly successStatus: 'OK' | 'KO';
  readonly notification: 'payment' | 'oct';
  /** Whether its outcome can be unknown, so that operators may have to resolve it. */
  readonly isReviewed: boolean;
}

const PAYMENT = { successStatus: 'OK', notification: 'payment', isReviewed: true } as const;

/**
 * The kinds of operations, as OperationKind names them (docs/product.md, "Notifications"): schemas, the descriptions of notifications
 * and the relay's check of the path are made from this record.
 */
export const KINDS = {
  HOLD: { ...PAYMENT, successWord: 'authorized' },
  CAPTURE: { ...PAYMENT, successWord: 'captured' },
  RELEASE: { ...PAYMENT, successWord: 'released' },
  EXPIRY: { ...PAYMENT, successWord: 'expired', successStatus: 'KO' },
  REVERSAL: { ...PAYMENT, successWord: 'reversed', successStatus: 'KO', isReviewed: false },
  REINSTATEMENT: { ...PAYMENT, successWord: 'reinstated', isReviewed: false },
  OCT: { ...PAYMENT, successWord: 'paid', notification: 'oct' },
} as const satisfies Record<Exclude<keyof typeof ContractKind, 'UNSPECIFIED'>, KindWords>;

type Kind = keyof typeof KINDS;

/** Their names, in the record's order. */
export const KIND_NAMES = Object.keys(KINDS) as [Kind, ...Kind[]];
export const REVIEWED_KINDS = KIND_NAMES.filter((kind) => KINDS[kind].isReviewed);

/** The words of a failure, whatever the kind. */
const FAILURE_WORDS = ['declined', 'failed'] as const;

type StatusInfo = (typeof KINDS)[Kind]['successWord'] | (typeof FAILURE_WORDS)[number];

/** All words that statusInfo can be. */
export const STATUS_INFOS: readonly StatusInfo[] = [
  ...KIND_NAMES.map((kind) => KINDS[kind].successWord),
  ...FAILURE_WORDS,
];

/** The words of the notifications of one sort, with the status that goes with each. */
export function wordsOf(notification: 'payment' | 'oct'): Readonly<Record<string, 'OK' | 'KO'>> {
  const successes = Object.values(KINDS).filter((kind) => kind.notification === notification);
  return Object.fromEntries([
    ...successes.map(({ successWord, successStatus }) => [successWord, successStatus]),
    ...FAILURE_WORDS.map((word) => [word, 'KO']),
  ]);
}
