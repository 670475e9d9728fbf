/** What goes wrong with the database while buyers act. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import { withSession } from '../../torture/deployment/postgres-member.ts';
import type { Buyers } from '../merchants/buyers.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Fault } from '../play.ts';
import type { OneCore } from '../stage/one-core.ts';
import { seconds } from './processes.ts';

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

/** Terminates all backends of the service, again and again. */
export const backendsTerminatedForAWhile: Fault<Deployment, Obedient> = {
  name: 'backends terminated',
  target: 'database',
  longestMs: 8_000,
  strike: ({ stage, merchants: { caller }, random }, durationMs) =>
    withSession(stage.database.adminUrl, async (session) => {
      const endMs = performance.now() + durationMs;
      const inFlight: number[] = [];
      let hit = 0;
      while (performance.now() < endMs) {
        inFlight.push(caller.inFlight());
        hit += (await session.query(TERMINATE)).rowCount ?? 0;
        await delay(100 + random() * 900);
      }
      return { hit, what: `in ${inFlight.length} turns, ${Math.max(...inFlight)} calls in flight at most` };
    }),
};

const TERMINATE = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'holdfast'";

export const readOnly: Fault<Deployment, Obedient> = {
  name: 'database read-only',
  target: 'database',
  longestMs: 12_000,
  strike: ({ stage, merchants: { caller } }, durationMs) =>
    withSession(stage.database.adminUrl, async (session) => {
      const before = caller.inFlight();
      await session.query('alter system set default_transaction_read_only = on');
      await session.query('select pg_reload_conf()');
      try {
        await delay(durationMs);
      } finally {
        await session.query('alter system reset default_transaction_read_only');
        await session.query('select pg_reload_conf()');
      }
      return { what: `for ${seconds(durationMs)}, ${before} calls in flight` };
    }),
};

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
