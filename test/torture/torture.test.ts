/**
 * Short versions of the tortures: enough to see that they still detect faults. `npm run torture` plays them at length.
 */
import { tortureCrash } from './crash.ts';
import { tortureDatabase } from './database.ts';
import { tortureFailover } from './failover.ts';
import { tortureLiar } from './liar.ts';
import { tortureNotifications } from './notifications.ts';
import { tortureObedient, tortureObedientKeyed, tortureObedientPython, tortureObedientUnkeyed } from './obedient.ts';
import { tortureRestore } from './restore.ts';
import { tortureRestores } from './restores.ts';
import { tortureStreams } from './streams.ts';

/** The test machine may be busy; the command holds core to its own five seconds. */
const READY_WITHIN_MS = 60_000;

/** The same faults at each run, so that a change is not blamed for another's. Rows are locked when PostgreSQL dies. */
const seed = 370_402_526;

describe('core under torture, all at once', function () {
  this.timeout(240_000);
  const ends: Record<string, PromiseSettledResult<unknown>> = {};

  before(async () => {
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

describe('a deployment under torture', function () {
  this.timeout(600_000);

  it('delivers notifications once they were answered 200, and under one webhook-id', () =>
    tortureNotifications({ seed, runs: 3 }));
  it('charges once and loses nothing for clients that obey every answer', () => tortureObedient({ seed, runs: 3 }));
  it('charges once and loses nothing for clients in Python', () => tortureObedientPython({ seed, runs: 2 }));
  it('charges once and loses nothing for clients that take the table literally', () =>
    tortureObedientKeyed({ seed, runs: 3 }));
  it('charges once and loses nothing for clients without keys', () => tortureObedientUnkeyed({ seed, runs: 3 }));
  it('loses nothing that was acknowledged with its database', () => tortureFailover({ seed, runs: 3 }));
  it('charges nothing again after its database went back in time', () => tortureRestore({ seed, runs: 2 }));
  it('reconciles what it lost at random moments', () => tortureRestores({ seed: 1, runs: 5 }));
  it('strands nothing when the processor breaks its contract', () => tortureLiar({ seed, runs: 8 }));
});
