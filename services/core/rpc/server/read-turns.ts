import { NoTurn, Turns } from '../../../../platform/turns.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { isDatabaseAway } from '../../storage/database-errors.ts';

/** Longer than the statements of a read may last, so that a database that is away is answered as such. */
export const WAIT_MS = 3_000;

/**
 * Opens turns for the reads of accounts: each account has one read at a time, or `atOnce`, in the order of arrival. So
 * what an account costs the database and this process at a time is one read, however many it sends and however
 * expensive they are, and no read of another account waits behind them. (Two at a time delayed a neighbour's calls
 * about twice as much, measured with 40 senders.)
 */
export function openReadTurns({ atOnce = 1, waitMs = WAIT_MS }: { atOnce?: number; waitMs?: number | undefined } = {}) {
  const turns = new Turns({ perKey: atOnce });
  return {
    /**
     * Runs a read in its turn, unless its caller has gone before that. Throws RATE_LIMITED when its turn does not come
     * in time.
     */
    async run<T>(account: string, read: () => Promise<T>, signal?: () => AbortSignal): Promise<T> {
      const call = () =>
        read().catch((error) => {
          // The waiting reads would fail as well, each after its own timeout.
          if (isDatabaseAway(error)) turns.refuse(account, error);
          throw error;
        });
      try {
        return await turns.run(account, call, { waitMs, signal });
      } catch (error) {
        throw error instanceof NoTurn ? refusal() : error;
      }
    },
  };
}

function refusal(): HoldfastError {
  return new HoldfastError('RATE_LIMITED', 'too many reads are under way; send fewer at a time', { retryAfterS: 1 });
}
