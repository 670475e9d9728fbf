/**
 * Restarts two cores and two gateways one by one under load, again and again, and counts what became of every keyed
 * request.
 *   npx node test/operate/rolling-restart.ts [rounds, 20 by default]
 */
import { openFleet } from './fleet.ts';
import { ended } from './keyed-shop.ts';
import { assertDoneOnce, type Sold, sellWhile } from './sell-while.ts';

/** Runs it: stops and starts each of the four processes `rounds` times. */
export async function rollingRestart(
  rounds: number,
  callers = 8,
  say: (line: string) => void = () => {},
): Promise<Sold & { readonly restarts: number }> {
  const fleet = await openFleet({ cores: 2, gateways: 2, environment: { LOG_LEVEL: 'warn' } });
  try {
    let restarts = 0;
    const sold = await sellWhile(fleet, callers, async ({ tally, untilAnswered }) => {
      for (let round = 1; round <= rounds; round++) {
        for (const member of [...fleet.cores, ...fleet.gateways]) {
          const before = ended(tally);
          const repeated = { ...tally.repeated };
          const startedMs = performance.now();
          const sinceStart = () => `${(performance.now() - startedMs).toFixed(0)} ms`;
          await member.stop();
          const stopped = sinceStart();
          await member.start();
          restarts++;
          const times = `stopped in ${stopped}, back after ${sinceStart()}`;
          const again = Object.entries(tally.repeated).map(([why, count]) => `${why} ${count - (repeated[why] ?? 0)}`);
          const answered = `${ended(tally) - before} requests answered meanwhile`;
          say(`round ${round}: ${member.name} ${times}; ${answered}, repeated: ${again.join(', ') || 'none'}`);
          await untilAnswered();
        }
      }
    });
    return { ...sold, restarts };
  } finally {
    await fleet.close();
  }
}

if (import.meta.main) {
  const { mochaGlobalSetup, mochaGlobalTeardown } = await import('../setup.ts');
  await mochaGlobalSetup();
  try {
    const seen = await rollingRestart(Number(process.argv[2] ?? 20), 16, (line) => process.stdout.write(`${line}\n`));
    process.stdout.write(`${JSON.stringify(seen, null, 2)}\n`);
    assertDoneOnce(seen);
  } finally {
    await mochaGlobalTeardown();
  }
}
