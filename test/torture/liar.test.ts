/** A few rounds; `npm run torture -- liar` plays for half an hour. */
import { tortureLiar } from './liar.ts';

describe('a processor that breaks its contract', function () {
  this.timeout(600_000);
  const seed = Date.now() % 2 ** 31;

  it(`strands nothing, fails no list and delays nobody else (seed ${seed})`, () => tortureLiar({ seed, runs: 8 }));
});
