import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { forSuite } from '../../../suite.ts';
import { HAPPENINGS } from './happenings.ts';
import { playRuns } from './play.ts';
import { openWorld } from './world.ts';

describe('a model of the money', () => {
  const world = forSuite(openWorld);

  it('agrees with core and the processor, whatever fails', async () => {
    const seed = Number(process.env.TORTURE_SEED ?? randomInt(2 ** 31));
    await playRuns(world, seed, 96);
    const missing = () => HAPPENINGS.filter((name) => !world.faults.counts.has(name));
    for (let more = 1; missing().length > 0 && more <= 5; more++) await playRuns(world, seed + more, 48);
    assert.deepEqual(missing(), [], 'each of them happened');
  });
});
