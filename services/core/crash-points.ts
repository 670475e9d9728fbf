/** Where a process may die between two things that belong together. Every one has a test. */
export const CRASH_POINTS = [
  'hold stored',
  'hold answered',
  'checkout opened',
  'capture reserved',
  'capture answered',
  'release reserved',
  'release answered',
  'expiry reserved',
  'expiry answered',
  'oct stored',
  'oct answered',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Called at each point; a test makes it throw, as if the process had died there. */
export type Reach = (point: CrashPoint) => void;
