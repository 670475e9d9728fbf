/** The tortures in short: enough to see that they still bite. `npm run torture` plays them at length. */
import { tortureCrash } from './crash.ts';
import { tortureDatabase } from './database.ts';
import { tortureStreams } from './streams.ts';

describe('core under torture', function () {
  this.timeout(180_000);
  const seed = Date.now() % 2 ** 31;

  it('loses and doubles nothing when it is killed', () => tortureCrash({ seed, runs: 5 }));
  it('serves again when its database comes back', () => tortureDatabase({ seed, runs: 3 }));
  it('streams without gap or disorder however often it is cut', () => tortureStreams({ seed, runs: 25 }));
});
