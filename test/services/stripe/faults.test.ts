import { forSuite } from '../../suite.ts';
import { FAULTS } from './fake/faults.ts';
import { faultStories, MANY, STORY_NAMES } from './fault-stories.ts';
import { startFixture } from './fixture.ts';

describe("Stripe's faults", () => {
  const fixture = forSuite(startFixture);

  for (const name of STORY_NAMES) {
    it(`${name}: what is said of it is true after each fault, once and often`, async () => {
      const once = FAULTS.map((fault) => [[fault, 1]] as const);
      // What hangs takes its time, and is no other doubt than what is cut.
      const often = FAULTS.filter((fault) => !fault.startsWith('hang')).map((fault) => [[fault, MANY]] as const);
      await faultStories(fixture)(name, [...once, ...often]);
    });
  }
});
