import { Problem } from '../problem.ts';

/** When a stream that was refused may be asked for again: about as long as a reader that is gone goes unnoticed. */
const RETRY_AFTER_SECONDS = 10;

/** Streams that are open at this gateway, bounded for each key that opens them. */
export class OpenStreams {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more. Answers how to count it no more, to be called once. Throws RATE_LIMITED when there are as many as may be. */
  open(key: string): () => void {
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
