import { ASKED_KINDS, type AskedKind } from './domain/kinds.ts';

/** A point at which a test lets a process die: before and after each call to the processor. */
export type CrashPoint = `${Lowercase<AskedKind>} ${'stored' | 'answered'}` | 'checkout opened';

/** The point before a submission of this kind is sent, or after its answer came. */
export function pointOf(kind: AskedKind, when: 'stored' | 'answered'): CrashPoint {
  return `${kind.toLowerCase() as Lowercase<AskedKind>} ${when}`;
}

export const CRASH_POINTS: readonly CrashPoint[] = [
  ...ASKED_KINDS.flatMap((kind) => [pointOf(kind, 'stored'), pointOf(kind, 'answered')]),
  'checkout opened',
];

/** Called at each point; a test makes it throw, as if the process had died. */
export type Reach = (point: CrashPoint) => void;
