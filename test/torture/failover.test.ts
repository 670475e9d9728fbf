/** Three rounds; `npm run torture -- failover` plays ten. */
import { tortureFailover } from './failover.ts';

describe('a database whose machine is lost', function () {
  this.timeout(600_000);
  const seed = Date.now() % 2 ** 31;

  it(`costs nothing that was acknowledged (seed ${seed})`, () => tortureFailover({ seed, runs: 3 }));
});
