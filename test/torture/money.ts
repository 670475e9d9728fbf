/** Random merchants against the model in test/services/core/model. */
import { HAPPENINGS } from '../services/core/model/happenings.ts';
import { playRuns } from '../services/core/model/play.ts';
import { openWorld } from '../services/core/model/world.ts';
import type { TortureOptions } from './options.ts';

/** Runs in one database; a fresh one now and then keeps the checks fast. */
const RUNS_OF_A_WORLD = 600;

/** What happens less often is hardly tested. The rarest, a crash at one point of an increment, happens 20 times. */
const LEAST_OF_2_000 = 10;

/**
 * Plays many runs and returns how often each command and each fault happened. Throws with the seed and the story of a
 * failure, and when one of them happened too rarely.
 */
export async function tortureMoney({ seed, runs = 2_000 }: TortureOptions): Promise<string[]> {
  const counts = new Map<string, number>();
  const startedMs = performance.now();
  for (let played = 0, world = 0; played < runs; played += RUNS_OF_A_WORLD, world++) {
    const faults = await playWorld((seed + world) % 2 ** 31, Math.min(RUNS_OF_A_WORLD, runs - played));
    for (const [name, count] of faults) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  const rare = HAPPENINGS.filter((name) => (counts.get(name) ?? 0) < Math.floor(runs / 2_000) * LEAST_OF_2_000);
  for (const name of rare) counts.set(name, counts.get(name) ?? 0);
  const lines = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${String(count).padStart(7)} ${name}`);
  if (rare.length > 0) throw new Error([`too rare in ${runs} runs: ${rare.join(', ')}`, ...lines].join('\n'));
  return [...lines, `${runs} runs in ${seconds} s: model, core and processor agree`];
}

async function playWorld(seed: number, runs: number): Promise<ReadonlyMap<string, number>> {
  const world = await openWorld();
  try {
    await playRuns(world, seed, runs);
    return world.faults.counts;
  } finally {
    await world.close();
  }
}
