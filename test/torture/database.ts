/** Terminates PostgreSQL's backends in the middle of transactions, and restarts the server, under load. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { askAgain, checkBought, type House, openHouse, startBuyers, untilSettled } from './buyers.ts';
import type { TortureOptions } from './options.ts';

const BUYERS = 12;
const READY_WITHIN_MS = 5_000;
const RECOVERY_MS = 60_000;

/**
 * Terminates backends in a transaction, then restarts the server twice. Returns figures; throws on a hang or a loss.
 */
export async function tortureDatabase(
  { runs = 30 }: TortureOptions,
  readyWithinMs = READY_WITHIN_MS,
): Promise<string[]> {
  const house = await openHouse();
  try {
    const buyers = startBuyers(house, BUYERS);
    let slowestMs = 0;
    let terminated = 0;
    for (let cut = 0; cut < runs; cut++) {
      terminated += await terminate(house);
      slowestMs = Math.max(slowestMs, await untilServing(house, readyWithinMs));
    }
    const restarts: number[] = [];
    for (let restart = 0; restart < 2; restart++) {
      await house.database.stop();
      await house.database.start();
      restarts.push(Math.round(await untilServing(house, readyWithinMs)));
    }
    const bought = await buyers.stop();
    await untilSettled(house, RECOVERY_MS);
    return [
      `${terminated} backends terminated in transactions, ${runs} times; core served again after at most ` +
        `${Math.round(slowestMs)} ms`,
      `the server restarted ${restarts.length} times; core served again ${restarts.join(' and ')} ms after it was up`,
      await askAgain(bought),
      ...(await checkBought(house, bought)),
    ];
  } finally {
    await house.close();
  }
}

/** Waits for backends of the service in a transaction, and terminates them. */
async function terminate({ sql }: House): Promise<number> {
  for (let tries = 0; tries < 2_000; tries++) {
    const { length } = await sql(IN_TRANSACTION);
    if (length > 0) return length;
  }
  throw new Error('no backend was ever in a transaction');
}

const IN_TRANSACTION = `select pg_terminate_backend(pid) from pg_stat_activity
  where usename = 'holdfast' and xact_start is not null and (state = 'active' or state = 'idle in transaction')`;

/** Measures the time until a hold is placed again. Throws when it exceeds the limit. */
async function untilServing(house: House, readyWithinMs: number): Promise<number> {
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
      await house.holds.createPreauthorization(hold, { timeoutMs: readyWithinMs });
      return performance.now() - startedMs;
    } catch (error) {
      assert(performance.now() - startedMs < readyWithinMs, `core does not serve again: ${(error as Error).message}`);
      await delay(20);
    }
  }
}
