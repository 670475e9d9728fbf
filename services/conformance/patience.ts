import { setTimeout as sleep } from 'node:timers/promises';

/** Asks the adapter for something small. */
type Ping = () => Promise<unknown>;

const STEP_MS = 50;

/** A step that took longer was one of a busy machine. */
const LONGEST_STEP_MS = 2 * STEP_MS;

/**
 * Waits for an adapter, in time that it had. Each step is a pause and a call to it, and counts for no more than it takes
 * on a machine with nothing else to do: where kit and adapter get few turns, the adapter has longer.
 */
export class Patience {
  readonly #ping: Ping;
  #leftMs: number;

  constructor(ms: number, ping: Ping) {
    this.#leftMs = ms;
    this.#ping = ping;
  }

  /** Waits a step; returns false, at once, when nothing is left. */
  async wait(): Promise<boolean> {
    if (this.#leftMs <= 0) return false;
    const startedMs = performance.now();
    await sleep(STEP_MS);
    // What does not answer has no turn.
    await this.#ping().catch(() => undefined);
    this.#leftMs -= Math.min(performance.now() - startedMs, LONGEST_STEP_MS);
    return true;
  }
}
