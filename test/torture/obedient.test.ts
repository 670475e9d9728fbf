/** A few rounds; `npm run torture -- obedient` and `-- obedient-keyed` play fifty. */
import { tortureObedient, tortureObedientKeyed } from './obedient.ts';

describe('clients that obey every answer', function () {
  this.timeout(600_000);
  const seed = Date.now() % 2 ** 31;

  it(`charge once and lose nothing without keys (seed ${seed})`, () => tortureObedient({ seed, runs: 3 }));
  it(`charge once and lose nothing with keys (seed ${seed})`, () => tortureObedientKeyed({ seed, runs: 3 }));
});
