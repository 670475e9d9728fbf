/** The database of a core in this process goes back to a random moment. */
import { rememberNow } from '../../services/core/time-machine.ts';
import { openStory, type Step, type Steppers, UNNOTICED } from '../merchants/steps.ts';
import type { Fault } from '../play.ts';
import type { TwoProcessors } from '../stage/two-processors.ts';

/** How often each step is drawn, of 70 times. */
const SHARES: Readonly<Record<Step, number>> = {
  hold: 6,
  checkout: 3,
  stepUp: 3,
  keep: 4,
  keepOtherwise: 1,
  pay: 5,
  capture: 10,
  release: 3,
  releasePart: 3,
  increment: 3,
  extend: 2,
  renew: 2,
  refund: 4,
  oct: 1,
  move: 1,
  wait: 3,
  events: 3,
  inquire: 2,
  expire: 2,
  captureDue: 2,
  renewKept: 5,
  releaseRenewed: 2,
};
const ALL = (Object.keys(SHARES) as Step[]).flatMap((step) => Array<Step>(SHARES[step]).fill(step));
/**
 * Steps while lost operations are done, where the restore is noticed only after results of a later time. The processors'
 * books are read since an hour before the newest result, so no time may pass from the restored moment on.
 */
const TIMELESS = ALL.filter((step) => step !== 'wait');

/** A new story, whose end is lost. One restore in five is noticed later, after more steps. */
export const momentRestored: Fault<TwoProcessors, Steppers> = {
  name: 'restored to a random moment',
  async strike({ stage, merchants, random }) {
    await stage.beginAnew();
    const story = openStory(stage, random);
    const { play, steps, say } = story;
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    return story.explain(async () => {
      await story.begin();
      await play(2 + upTo(5), ALL);
      await steps.events();
      const goBack = await rememberNow(stage);
      const kept = story.deeds.length;
      say('--- the moment to which the database goes back');
      const isNoticedLater = random() < 0.2;
      await play(2 + upTo(7), isNoticedLater ? TIMELESS : ALL);
      await steps.events();
      const before = [...story.deeds];
      await goBack();
      say('--- it went back');
      if (isNoticedLater) await play(upTo(3), UNNOTICED, 'some keyed');
      merchants.round = { story, goBack, before };
      return { hit: before.length - kept };
    });
  },
};
