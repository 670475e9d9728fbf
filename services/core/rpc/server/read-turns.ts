import { HoldfastError } from '../../domain/refusal.ts';
import { isDatabaseAway } from '../../storage/database-errors.ts';

/** The reads of one account that wait while another one runs. */
type Line = Set<PromiseWithResolvers<void>>;

/**
 * Runs the reads of each account one after the other, in the order of arrival. So what an account costs the database
 * and this process at a time is one read, however many it sends and however expensive they are, and no read of another
 * account waits behind them. (Two at a time delayed a neighbour's calls about twice as much, measured with 40 senders.)
 */
export class ReadTurns {
  readonly #lines = new Map<string, Line>();
  readonly #waitMs: number;

  constructor(waitMs = WAIT_MS) {
    this.#waitMs = waitMs;
  }

  /** Runs a read in its turn. Throws RATE_LIMITED when its turn does not come in time. */
  async run<T>(account: string, read: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(account);
    const waiting = line ?? new Set();
    if (line) await this.#turn(line);
    else this.#lines.set(account, waiting);
    try {
      return await read();
    } catch (error) {
      // Those that wait would find the same, each after its own timeout.
      if (isDatabaseAway(error)) {
        for (const { reject } of waiting) reject(error);
        waiting.clear();
      }
      throw error;
    } finally {
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next.resolve();
      } else this.#lines.delete(account);
    }
  }

  async #turn(line: Line): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      line.delete(turn);
      turn.reject(refusal());
    }, this.#waitMs);
    line.add(turn);
    try {
      await turn.promise;
    } finally {
      clearTimeout(timer);
    }
  }
}

function refusal(): HoldfastError {
  return new HoldfastError('RATE_LIMITED', 'too many reads are under way; send fewer at a time', { retryAfterS: 1 });
}

/** Longer than the statements of a read may last, so that a database that is away is answered as such. */
export const WAIT_MS = 3_000;
