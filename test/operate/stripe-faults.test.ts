import { FAULTS } from '../services/stripe/fake/faults.ts';
import { faultStories, MANY, STORY_NAMES } from '../services/stripe/fault-stories.ts';
import { startFixture } from '../services/stripe/fixture.ts';
import { forSuite } from '../suite.ts';

describe("pairs of Stripe's faults", () => {
  const fixture = forSuite(startFixture);

  for (const name of STORY_NAMES) {
    it(`${name}: what is said of it is true after each pair`, async () => {
      const faults = FAULTS.filter((fault) => !fault.startsWith('hang'));
      const pairs = faults.flatMap((first) => faults.map((then) => [[first, 1] as const, [then, MANY] as const]));
      await faultStories(fixture)(name, pairs);
      fixture.stripe.faults.length = 0;
    }).timeout(300_000);
  }
});
