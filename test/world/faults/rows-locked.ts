import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment, Merchant } from '../../torture/deployment/deployment.ts';
import { withSession } from '../../torture/deployment/postgres-member.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Fault } from '../play.ts';
import { seconds } from './processes.ts';

/** Rows of holds locked by another session while their captures are reserved, or settle. */
export function rowsLocked(count: number): Fault<Deployment, Obedient> {
  return {
    name: count === 1 ? 'one row locked' : 'two rows locked',
    target: 'rows',
    longestMs: 20_000,
    leadMs: 3_500,
    async strike({ stage, merchants: { caller, stories, merchants }, random }, durationMs) {
      const isSettling = random() < 0.5;
      const several = merchants.filter(({ severalCaptures }) => severalCaptures);
      let most = 0;
      let rows = 0;
      let heldMs = 0;
      let isOver = false;
      /** Tries until the row is locked: another fault may have killed the database, or kill it, which ends the lock. */
      const lockOne = async (requestId: string) => {
        let lockedMs: number | undefined;
        while (lockedMs === undefined && !isOver) {
          const locking = withSession(stage.database.adminUrl, async (client) => {
            // Another fault may have made the database read-only.
            await client.query('begin read write');
            const locked = await client.query('select from hold where request_id = $1 for update', [requestId]);
            lockedMs = performance.now();
            rows += locked.rowCount ?? 0;
            while (performance.now() < lockedMs + durationMs) {
              await delay(100);
              await client.query('select');
              heldMs = Math.max(heldMs, performance.now() - lockedMs);
              most = Math.max(most, caller.inFlight());
            }
            await client.query('rollback');
          });
          await locking.catch(() => delay(100));
        }
      };
      const locking: Promise<void>[] = [];
      const told = Array.from({ length: count }, (_, index) =>
        stories.tellOf(isSettling ? 'slow' : 'ok', several[index % several.length] as Merchant, async (requestId) => {
          // The slow processor answers after 2 s; until then the reservation is committed and nothing is settled.
          const locked = isSettling ? delay(700).then(() => lockOne(requestId)) : lockOne(requestId);
          locking.push(locked);
          if (!isSettling) await delay(100);
        }),
      );
      const over = Promise.all(told).then(() => {
        isOver = true;
      });
      await Promise.race([over, delay(5_000)]);
      // A busy machine may not have placed a hold by then.
      while (locking.length === 0 && !isOver) await delay(100);
      await Promise.all(locking);
      if (rows === 0) return undefined;
      const when = isSettling ? 'settled' : 'reserved';
      return {
        what:
          `${rows} rows for ${seconds(heldMs)} while their captures were to be ${when}, ${most} calls in flight at ` +
          'most',
      };
    },
  };
}
