/** Where the sandbox takes time from, so that a test turns two seconds or thirty days in an instant. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `act` once, after `delayMs`; the answer calls it off. */
  after(delayMs: number, act: () => void): () => void;
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, act) {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
};
