import { SENT_KINDS, type SentKind } from './kinds.ts';

/** Operations that somebody waits for, or counts on. */
type Counted = Exclude<SentKind, 'LATE_VOID'>;

/** A point at which a test lets a process die: before and after each call to the processor. */
export type CrashPoint = `${Lowercase<Counted>} ${'stored' | 'answered'}` | 'checkout opened';

/** The point before something of this kind is sent, or after its answer came. */
export function pointOf(kind: Counted, when: 'stored' | 'answered'): CrashPoint {
  return `${kind.toLowerCase() as Lowercase<Counted>} ${when}`;
}

export const CRASH_POINTS: readonly CrashPoint[] = [
  ...SENT_KINDS.filter((kind) => kind !== 'LATE_VOID').flatMap((kind) => [
    pointOf(kind, 'stored'),
    pointOf(kind, 'answered'),
  ]),
  'checkout opened',
];

/** Called at each point; a test makes it throw, as if the process had died. */
export type Reach = (point: CrashPoint) => void;
