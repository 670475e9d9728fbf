import type { Limiter } from '../limits/limits.ts';
import { demandRate, rateLimited } from '../limits/rate-limit.ts';

/** Retry-After of a refused stream: about as long as it takes to notice that a reader has disconnected. */
const RETRY_AFTER_MS = 10_000;

/**
 * How often one key may open a stream. Each client that disconnects resets one HTTP/2 stream to core, and core closes a
 * connection that has more than some tens of resets a second.
 */
export const OPENINGS = { name: 'streams', points: 100, durationSeconds: 10 } as const;

/** Limits how many streams each key has open at this gateway, and how often it opens one. */
export class StreamLimit {
  readonly #most: number;
  readonly #openings: Limiter;
  readonly #counts = new Map<string, number>();

  constructor(most: number, openings: Limiter) {
    this.#most = most;
    this.#openings = openings;
  }

  /** Counts a stream. Resolves with a function to call once, when it ends. Throws RATE_LIMITED above either limit. */
  async open(key: string): Promise<() => void> {
    await demandRate(this.#openings, key);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#most)
      throw rateLimited(this.#most, RETRY_AFTER_MS, `As many streams are open as may be: ${this.#most}.`);
    this.#counts.set(key, count + 1);
    return () => this.#close(key);
  }

  #close(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }
}
