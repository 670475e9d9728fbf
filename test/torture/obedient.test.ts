/** A few rounds; `npm run torture -- obedient`, `-- obedient-python` and `-- obedient-unkeyed` play more. */
import { tortureObedient, tortureObedientPython, tortureObedientUnkeyed } from './obedient.ts';

describe('clients that obey every answer', function () {
  this.timeout(600_000);
  const seed = Date.now() % 2 ** 31;

  it(`charge once and lose nothing: the package (seed ${seed})`, () => tortureObedient({ seed, runs: 3 }));
  it(`charge once and lose nothing: Python (seed ${seed})`, () => tortureObedientPython({ seed, runs: 2 }));
  it(`charge once and lose nothing: without keys (seed ${seed})`, () => tortureObedientUnkeyed({ seed, runs: 3 }));
});
