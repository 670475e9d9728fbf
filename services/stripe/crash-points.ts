/** Where the adapter may die between two things that belong together. Every one has a test. */
export const CRASH_POINTS = [
  'authorization stored',
  'intent created',
  'intent stored',
  'confirmation answered',
  'checkout stored',
  'session created',
  'capture stored',
  'capture answered',
  'void stored',
  'void answered',
  'increment stored',
  'increment answered',
  'refund stored',
  'refund answered',
  'fence stored',
  'fence answered',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Called at each point; a test makes it throw, as if the process had died there. */
export type Reach = (point: CrashPoint) => void;
