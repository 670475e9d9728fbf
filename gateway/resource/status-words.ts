/** The kinds of operations and the words of their results (docs/verify-webhooks.md, "Paths"). */
import { KINDS } from './kinds.ts';

type Kind = keyof typeof KINDS;

const KIND_NAMES = Object.keys(KINDS) as [Kind, ...Kind[]];
export const REVIEWED_KINDS = KIND_NAMES.filter((kind) => KINDS[kind].isReviewed);

/** The words of a failure of any kind. */
const FAILURE_WORDS = ['declined', 'failed'] as const;

type StatusInfo = (typeof KINDS)[Kind]['successWord'] | (typeof FAILURE_WORDS)[number];

export const STATUS_INFOS: readonly StatusInfo[] = [
  ...KIND_NAMES.map((kind) => KINDS[kind].successWord),
  ...FAILURE_WORDS,
];

/** The words of the notifications of one sort, with the status that goes with each; EITHER = OK and KO do. */
export function wordsOf(notification: 'payment' | 'oct'): Readonly<Record<string, 'OK' | 'KO' | 'EITHER'>> {
  const successes = Object.values(KINDS).filter(({ notification: of }) => of === notification || of === 'EITHER');
  return Object.fromEntries([
    ...successes.map(({ successWord, successStatus }) => [successWord, successStatus]),
    ...FAILURE_WORDS.map((word) => [word, 'KO']),
  ]);
}
