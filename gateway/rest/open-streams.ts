import { type Limiter, limiterKey, take } from '../limits.ts';
import { Problem } from '../problem.ts';
import { rateLimited } from '../rate-limited.ts';

/** When a stream that was refused may be asked for again: about as long as a reader that is gone goes unnoticed. */
const RETRY_AFTER_SECONDS = 10;

/**
 * How often one key may open a stream. Each stream that is given up resets one at core, and a server closes a connection on which more
 * than some tens a second are reset.
 */
export const OPENINGS = { name: 'streams', points: 100, durationSeconds: 10 } as const;

/** Streams that are open at this gateway, bounded for each key that opens them, and so is how often it does. */
export class OpenStreams {
  readonly #most: number;
  readonly #openings: Limiter;
  readonly #counts = new Map<string, number>();

  constructor(most: number, openings: Limiter) {
    this.#most = most;
    this.#openings = openings;
  }

  /** Counts one more. Resolves with how to count it no more, to be called once. Throws RATE_LIMITED when there are as many as may be. */
  async open(key: string): Promise<() => void> {
    const { allowed, state } = await take(this.#openings, limiterKey(key));
    if (!allowed) throw rateLimited(this.#openings.points, state.msBeforeNext);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#most) throw tooMany(this.#most);
    this.#counts.set(key, count + 1);
    return () => this.#close(key);
  }

  #close(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }
}

function tooMany(most: number): Problem {
  return new Problem('RATE_LIMITED', {
    detail: `As many streams are open as may be: ${most}.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    headers: {
      'RateLimit-Limit': String(most),
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': String(RETRY_AFTER_SECONDS),
    },
  });
}
