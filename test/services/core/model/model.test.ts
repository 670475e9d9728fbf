import { randomInt } from 'node:crypto';
import { forSuite } from '../../../suite.ts';
import { playRuns } from './play.ts';
import { openWorld } from './world.ts';

describe('a model of the money', () => {
  const world = forSuite(openWorld);

  // `npm run torture` plays thousands, and demands that everything happens often enough.
  it('agrees with core and the processor, whatever fails', async () => {
    await playRuns(world, Number(process.env.TORTURE_SEED ?? randomInt(2 ** 31)), 48);
  });
});
