/**
 * A clock for "this took no longer than": it stands still while the machine does, so that a process that got no turn for
 * seconds is not taken for one that waited for something.
 */
const LOOK_MS = 50;
/** What passes between two looks counts up to this. */
const MOST_MS = 500;

let running = 0;
let lookedMs = performance.now();

setInterval(runningMs, LOOK_MS).unref();

/** Milliseconds, from an arbitrary beginning. */
export function runningMs(): number {
  const now = performance.now();
  running += Math.min(now - lookedMs, MOST_MS);
  lookedMs = now;
  return running;
}
