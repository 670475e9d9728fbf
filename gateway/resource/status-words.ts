/** The kinds of operations and the words of their results (docs/verify-webhooks.md, "Paths"). */
import { KINDS, OWN_FAILURES } from './kinds.ts';

type Kind = keyof typeof KINDS;

const KIND_NAMES = Object.keys(KINDS) as [Kind, ...Kind[]];
export const REVIEWED_KINDS = KIND_NAMES.filter((kind) => KINDS[kind].isReviewed);

type OwnFailure = keyof typeof OWN_FAILURES;

const OWN_FAILURE_NAMES = Object.keys(OWN_FAILURES) as OwnFailure[];

/** The words of a failure of the other kinds. */
const FAILURE_WORDS = ['declined', 'failed'] as const;

type StatusInfo =
  | (typeof KINDS)[Kind]['successWord']
  | (typeof OWN_FAILURES)[OwnFailure]
  | (typeof FAILURE_WORDS)[number];

export const STATUS_INFOS: readonly StatusInfo[] = [
  ...KIND_NAMES.map((kind) => KINDS[kind].successWord),
  ...Object.values(OWN_FAILURES),
  ...FAILURE_WORDS,
];

/** The words of the notifications of one sort, with the status that goes with each; EITHER = OK and KO do. */
export function wordsOf(notification: 'payment' | 'oct'): Readonly<Record<string, 'OK' | 'KO' | 'EITHER'>> {
  const kinds = KIND_NAMES.filter((kind) => [notification, 'EITHER'].includes(KINDS[kind].notification));
  const failures = OWN_FAILURE_NAMES.filter((kind) => kinds.includes(kind));
  return Object.fromEntries([
    ...kinds.map((kind) => [KINDS[kind].successWord, KINDS[kind].successStatus]),
    ...failures.map((kind) => [OWN_FAILURES[kind], 'KO']),
    ...FAILURE_WORDS.map((word) => [word, 'KO']),
  ]);
}
