/**
 * Short versions of the tortures, side by side: enough to see that they still detect faults. `npm run torture` plays
 * them at length.
 */
import { tortureCrash } from './crash.ts';
import { tortureDatabase } from './database.ts';
import { tortureStreams } from './streams.ts';

/** The test machine may be busy; the command holds core to its own five seconds. */
const READY_WITHIN_MS = 60_000;

describe('core under torture', function () {
  this.timeout(240_000);
  const ends: Record<string, PromiseSettledResult<unknown>> = {};

  before(async () => {
    const seed = Date.now() % 2 ** 31;
    const [crash, database, streams] = await Promise.allSettled([
      tortureCrash({ seed, runs: 5 }),
      tortureDatabase({ seed, runs: 3 }, READY_WITHIN_MS),
      tortureStreams({ seed, runs: 25 }),
    ]);
    Object.assign(ends, { crash, database, streams });
  });

  const ended = (name: string) => () => {
    const end = ends[name];
    if (end?.status !== 'fulfilled') throw end?.reason;
  };
  it('loses and repeats nothing when it is killed', ended('crash'));
  it('serves again when its database comes back', ended('database'));
  it('streams without gap or disorder however often it is cut', ended('streams'));
});
