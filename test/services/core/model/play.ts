/** Plays many waves from one seed. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { playWave } from './wave.ts';
import { waves } from './waves.ts';
import type { World } from './world.ts';

/** Runs played side by side: enough that statements gather several commands, few enough that a failure can be read. */
const RUNS_OF_A_WAVE = 12;
const STEPS = 12;

/** Plays at least the given number of runs. Throws with the seed and the story of the first hold that is wrong. */
export async function playRuns(world: World, seed: number, runs: number): Promise<void> {
  const property = fc.asyncProperty(waves(RUNS_OF_A_WAVE, STEPS), (steps) => playWave(world, steps));
  const numRuns = Math.ceil(runs / RUNS_OF_A_WAVE);
  // Leftovers of a failed wave would disturb smaller ones, so the failure is not minimised: the story is enough.
  const { failed, errorInstance, numRuns: played } = await fc.check(property, { seed, numRuns, endOnFailure: true });
  if (!failed) return assert.deepEqual(await world.stage.audit(), [], `seed ${seed}: the audit finds nothing`);
  throw new Error(`seed ${seed}, wave ${played}: ${(errorInstance as Error)?.stack}`, { cause: errorInstance });
}
