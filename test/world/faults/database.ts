/** What goes wrong with the database while buyers act. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Buyers } from '../merchants/buyers.ts';
import type { Fault } from '../play.ts';
import type { OneCore } from '../stage/one-core.ts';

/** Terminates PostgreSQL's backends in the middle of transactions. */
export function backendsTerminated(readyWithinMs: number): Fault<OneCore, Buyers> {
  return {
    name: 'backends terminated in transactions',
    async strike({ stage }) {
      const hit = await terminate(stage);
      return { hit, servedAfterMs: await untilServing(stage, readyWithinMs) };
    },
  };
}

/** Stops the server and starts it again. */
export function serverRestarted(readyWithinMs: number): Fault<OneCore, Buyers> {
  return {
    name: 'database restarted',
    async strike({ stage }) {
      await stage.database.stop();
      await stage.database.start();
      return { hit: 1, servedAfterMs: await untilServing(stage, readyWithinMs) };
    },
  };
}

/** Waits for backends of the service in a transaction, and terminates them. */
async function terminate({ sql }: OneCore): Promise<number> {
  for (let tries = 0; tries < 2_000; tries++) {
    const { length } = await sql(IN_TRANSACTION);
    if (length > 0) return length;
  }
  throw new Error('no backend was ever in a transaction');
}

const IN_TRANSACTION = `select pg_terminate_backend(pid) from pg_stat_activity
  where usename = 'holdfast' and xact_start is not null and (state = 'active' or state = 'idle in transaction')`;

/** Measures the time until a hold is placed again. Throws when it exceeds the limit. */
async function untilServing(stage: OneCore, readyWithinMs: number): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const hold = {
      merchantId: 'acme',
      tokenId: 'tok_sandbox_ok',
      amount: 1n,
      currency: 'EUR',
      terminalId: 'T1',
      userId: 'u',
    };
    try {
      await stage.holds.createPreauthorization(hold, { timeoutMs: readyWithinMs });
      return performance.now() - startedMs;
    } catch (error) {
      assert(performance.now() - startedMs < readyWithinMs, `core does not serve again: ${(error as Error).message}`);
      await delay(20);
    }
  }
}
