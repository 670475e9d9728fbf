/**
 * Short versions of the tortures for every change, longer ones at night. `npm run torture` plays them as long as one
 * likes.
 */
import { atNight, isNight } from '../at-night.ts';
import * as lines from '../world/lines.ts';
import { tortureEdgeBriefly } from './edge.ts';
import { tortureLiar } from './liar.ts';

/** The test machine may be busy; the command holds core to its own five seconds. */
const READY_WITHIN_MS = 60_000;

/** The same faults at each run, so that a change is not blamed for another's. Rows are locked when PostgreSQL dies. */
const seed = 370_402_526;

/** A test is ended that waits for what never comes. */
const TIMEOUT_MS = atNight(3_600_000, 600_000);

describe('core under torture, all at once', function () {
  this.timeout(TIMEOUT_MS);
  const ends: Record<string, PromiseSettledResult<unknown>> = {};

  before(async () => {
    const [crash, database, streams] = await Promise.allSettled([
      lines.crash({ seed, runs: atNight(50, 5) }),
      lines.database(READY_WITHIN_MS)({ seed, runs: atNight(30, 3) }),
      lines.streams({ seed, runs: atNight(200, 25) }),
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
  this.timeout(TIMEOUT_MS);

  it('delivers notifications once they were answered 200, and under one webhook-id', () =>
    lines.notifications({ seed, runs: atNight(20, 3) }));
  it('serves a healthy merchant beside pipeliners, streams, slow doors and a silent processor', () =>
    tortureEdgeBriefly());
  it('charges once and loses nothing for clients that obey every answer', () =>
    lines.obedient({ seed, runs: atNight(25, 2) }));
  it('charges once and loses nothing for clients in Python', () =>
    lines.obedientPython({ seed, runs: atNight(10, 1) }));
  it('charges once and loses nothing for clients that take the table literally', () =>
    lines.obedientKeyed({ seed, runs: atNight(25, 2) }));
  it('charges once and loses nothing for clients without keys', () =>
    lines.obedientUnkeyed({ seed, runs: atNight(25, 2) }));
  it('loses nothing that was acknowledged with its database', () => lines.failover({ seed, runs: atNight(10, 2) }));
  if (isNight)
    it('releases each renewed hold once when its database is lost', () => lines.failoverRenewals({ seed, runs: 10 }));
  it('loses no request while the release before it and this one run side by side', () =>
    lines.upgrade({ seed, runs: atNight(20, 8) }));
  it('charges nothing again after its database went back in time', () => lines.restore({ seed, runs: atNight(6, 2) }));
  it('reconciles what it lost at random moments', () => lines.restores({ seed: 1, runs: atNight(150, 5) }));
  it('reconciles what it lost while the processor lied', () => lines.liarRestored({ seed: 1, runs: atNight(80, 3) }));
  it('strands nothing when the processor breaks its contract', () =>
    tortureLiar(atNight({ seed, minutes: 30 }, { seed, runs: 8 })));
});
