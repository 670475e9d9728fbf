/**
 * Restarts two cores and two gateways one by one under load, again and again, and counts the outcome of every keyed request.
 *   npx node test/operate/rolling-restart.ts [rounds, 20 by default]
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../services/sandbox/ledger/entry.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { ended, KeyedShop, type Tally } from './keyed-shop.ts';

interface Counts {
  readonly holds: number;
  readonly captures: number;
}

/** The results of a run. Answers, database and ledger must agree, or something was done twice. */
export interface Restarted {
  readonly restarts: number;
  readonly tally: Tally;
  readonly stored: Counts;
  readonly atProcessor: Counts;
}

/** Runs it: stops and starts each of the four processes `rounds` times. */
export async function rollingRestart(
  rounds: number,
  callers = 8,
  say: (line: string) => void = () => {},
): Promise<Restarted> {
  const fleet = await openFleet({ cores: 2, gateways: 2, environment: { LOG_LEVEL: 'warn' } });
  try {
    const shop = new KeyedShop(fleet);
    const { tally } = shop;
    let selling = true;
    const running = Array.from({ length: callers }, async () => {
      while (selling) await shop.sell();
    });
    let restarts = 0;
    for (let round = 1; round <= rounds; round++) {
      for (const member of [...fleet.cores, ...fleet.gateways]) {
        const before = ended(tally);
        const repeated = { ...tally.repeated };
        const startedMs = performance.now();
        await member.stop();
        const stoppedMs = performance.now();
        await member.start();
        restarts++;
        const times = `stopped in ${(stoppedMs - startedMs).toFixed(0)} ms, back after ${(performance.now() - startedMs).toFixed(0)} ms`;
        const again = Object.entries(tally.repeated).map(([why, count]) => `${why} ${count - (repeated[why] ?? 0)}`);
        const answered = `${ended(tally) - before} requests answered meanwhile, repeated: ${again.join(', ') || 'none'}`;
        say(`round ${round}: ${member.name} ${times}; ${answered}`);
        const goal = ended(tally) + callers;
        while (ended(tally) < goal) await delay(10);
      }
    }
    selling = false;
    await Promise.all(running);
    const processed = fleet
      .oracle()
      .entries()
      .filter(({ answer }) => answer === Answer.APPROVED);
    const of = (kind: Entry['kind']) => processed.filter((entry) => entry.kind === kind).length;
    const atProcessor = { holds: of('authorization'), captures: of('capture') };
    return { restarts, tally, stored: await stored(fleet), atProcessor };
  } finally {
    await fleet.close();
  }
}

async function stored({ databaseUrl }: Fleet): Promise<Counts> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(`select (select count(*)::int from hold where phase = 'AUTHORIZED') as holds,
      (select count(*)::int from submission where kind = 'CAPTURE' and state = 'OK') as captures`);
    return rows[0];
  } finally {
    await client.end();
  }
}

if (import.meta.main) {
  const { mochaGlobalSetup, mochaGlobalTeardown } = await import('../setup.ts');
  await mochaGlobalSetup();
  try {
    const seen = await rollingRestart(Number(process.argv[2] ?? 20), 16, (line) => process.stdout.write(`${line}\n`));
    process.stdout.write(`${JSON.stringify(seen, null, 2)}\n`);
    assert.deepEqual(seen.tally.lost, []);
  } finally {
    await mochaGlobalTeardown();
  }
}
