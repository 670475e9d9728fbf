import { atNight } from '../at-night.ts';
import { FAULTS, type Fault } from '../services/stripe/fake/faults.ts';
import { faultStories, MANY, STORY_NAMES } from '../services/stripe/fault-stories.ts';
import { startFixture } from '../services/stripe/fixture.ts';
import { forSuite } from '../suite.ts';

describe("pairs of Stripe's faults", () => {
  const fixture = forSuite(startFixture);

  for (const name of STORY_NAMES) {
    it(`${name}: what is said of it is true after each pair`, async () => {
      const faults = FAULTS.filter((fault) => !fault.startsWith('hang'));
      // For every change each fault is once the first, and once the second.
      const seconds = (index: number) => atNight(faults, [faults.at(index + 1 - faults.length) as Fault]);
      const pairs = faults.flatMap((first, index) =>
        seconds(index).map((then) => [[first, 1] as const, [then, MANY] as const]),
      );
      await faultStories(fixture)(name, pairs);
      fixture.stripe.faults.length = 0;
    });
  }
});
