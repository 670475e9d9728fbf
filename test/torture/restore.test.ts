/** Two rounds; `npm run torture -- restore` plays six. */
import { tortureRestore } from './restore.ts';

describe('a database that goes back in time', function () {
  this.timeout(600_000);
  const seed = Date.now() % 2 ** 31;

  it(`charges nothing again, and is made good by reconciling (seed ${seed})`, () => tortureRestore({ seed, runs: 2 }));
});
