import { HoldfastError } from '../../domain/refusal.ts';
import { isDatabaseAway } from '../../storage/database-errors.ts';

/** The reads of one account. */
interface Line {
  running: number;
  readonly waiting: Set<PromiseWithResolvers<void>>;
}

/**
 * Runs the reads of each account one after the other, or `atOnce` of them, in the order of arrival. So what an account
 * costs the database and this process at a time is one read, however many it sends and however expensive they are, and
 * no read of another account waits behind them. (Two at a time delayed a neighbour's calls about twice as much, measured
 * with 40 senders.)
 */
export class ReadTurns {
  readonly #lines = new Map<string, Line>();
  readonly #waitMs: number;

  constructor(waitMs = WAIT_MS) {
    this.#waitMs = waitMs;
  }

  /** Runs a read in its turn. Throws RATE_LIMITED when its turn does not come in time. */
  async run<T>(account: string, read: () => Promise<T>, atOnce = 1): Promise<T> {
    const line = this.#lines.get(account) ?? { running: 0, waiting: new Set() };
    this.#lines.set(account, line);
    // One that leaves hands its place on, so the count stays.
    if (line.running >= atOnce) await this.#turn(line.waiting);
    else line.running += 1;
    try {
      return await read();
    } catch (error) {
      // Those that wait would find the same, each after its own timeout.
      if (isDatabaseAway(error)) {
        for (const { reject } of line.waiting) reject(error);
        line.waiting.clear();
      }
      throw error;
    } finally {
      const [next] = line.waiting;
      if (next) {
        line.waiting.delete(next);
        next.resolve();
      } else {
        line.running -= 1;
        if (line.running === 0) this.#lines.delete(account);
      }
    }
  }

  async #turn(waiting: Line['waiting']): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      waiting.delete(turn);
      turn.reject(refusal());
    }, this.#waitMs);
    waiting.add(turn);
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
