/** Terminates PostgreSQL's backends in the middle of transactions, and restarts the server, under load. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../services/quickstart/ports.ts';
import { type Postgres, removePostgres, startPostgres } from '../../services/quickstart/postgres.ts';
import { askAgain, checkBought, type House, openHouse, startBuyers, untilSettled } from './house.ts';
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
  const directory = await mkdtemp(`${tmpdir()}/holdfast-torture-`);
  await chmod(directory, 0o711);
  const server = {
    directory: `${directory}/postgres`,
    logFile: `${directory}/postgres.log`,
    port: await freePort(),
    password: randomBytes(32).toString('base64url'),
    superuserPassword: randomBytes(32).toString('base64url'),
    fast: true,
  };
  let postgres = await startPostgres(server);
  const house = await openHouse(postgres.url);
  try {
    const buyers = startBuyers(house, BUYERS);
    let slowestMs = 0;
    let terminated = 0;
    for (let cut = 0; cut < runs; cut++) {
      terminated += await terminate(postgres);
      slowestMs = Math.max(slowestMs, await untilServing(house, readyWithinMs));
    }
    const restarts: number[] = [];
    for (let restart = 0; restart < 2; restart++) {
      await postgres.stop();
      postgres = await startPostgres(server);
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
    await postgres.stop();
    await removePostgres(postgres.home);
    await rm(directory, { recursive: true });
  }
}

/** Waits for backends of the service in a transaction, and terminates them. */
async function terminate(postgres: Postgres): Promise<number> {
  const client = new pg.Client({ connectionString: postgres.adminUrl });
  await client.connect();
  try {
    for (let tries = 0; tries < 2_000; tries++) {
      const { rowCount } = await client.query(IN_TRANSACTION);
      if (rowCount !== null && rowCount > 0) return rowCount;
    }
    throw new Error('no backend was ever in a transaction');
  } finally {
    await client.end();
  }
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
