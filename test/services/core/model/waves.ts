/** The waves of runs that are played. */
import fc from 'fast-check';
import { CRASH_POINTS } from '../../../../services/core/domain/crash-points.ts';
import { BEATS, type Beat, type Command, command, type Step } from './commands.ts';
import { STORIES } from './stories.ts';

/** A story concerns one hold. */
function script(steps: number): fc.Arbitrary<Command[]> {
  const random = fc.array(command, { minLength: steps, maxLength: steps });
  const told = (stories: typeof STORIES) =>
    fc
      .tuple(fc.constantFrom(...stories), random)
      .map(([story, commands]) =>
        commands.map((each, index) => (story[index] ? { ...each, slot: 0, ...story[index] } : each)),
      );
  const kept = STORIES.filter(([first]) => first?.terms === 'keep');
  return fc.oneof({ weight: 3, arbitrary: random }, ...[STORIES, kept].map((stories) => told(stories)));
}

/** Creates a wave of `runs` scripts of `steps` steps. */
export function waves(runs: number, steps: number): fc.Arbitrary<Step[]> {
  const happening = fc.record({
    crashes: fc.subarray([...CRASH_POINTS], { maxLength: 7 }),
    beat: fc.oneof(
      { weight: 4, arbitrary: fc.constant<Beat>({ is: 'nothing' }) },
      { weight: 5, arbitrary: fc.constantFrom<Beat>(...BEATS) },
    ),
  });
  const scripts = fc.array(script(steps), { minLength: runs, maxLength: runs });
  return fc
    .tuple(scripts, fc.array(happening, { minLength: steps, maxLength: steps }))
    .map(([all, happenings]) =>
      happenings.map((each, index) => ({ ...each, commands: all.map((one) => one[index] as Command) })),
    );
}
