import assert from 'node:assert/strict';
import { readOptions } from '../../../services/conformance/options.ts';

const NEEDED = ['--processor', '127.0.0.1:1', '--profile', 'p.json'];

describe('readOptions()', () => {
  it('reads credentials from the environment unless they are given', () => {
    const environment = { PROCESSOR_CREDENTIAL: 'from-there', PROCESSOR_TOKEN: 'and-there' };
    assert.deepEqual(readOptions(NEEDED, environment), {
      processor: '127.0.0.1:1',
      profile: 'p.json',
      events: '127.0.0.1:50051',
      only: [],
      kills: 5,
      credential: 'from-there',
      eventsToken: 'and-there',
    });
    const args = [...NEEDED, '--credential', 'here', '--only', 'void', '--only', 'kill', '--kills', '9'];
    assert.partialDeepStrictEqual(readOptions(args, environment), {
      credential: 'here',
      only: ['void', 'kill'],
      kills: 9,
    });
  });

  const wrong: readonly [string[], RegExp][] = [
    [[], /--processor: is required; --profile: is required/],
    [['--processor', 'nowhere', '--profile', 'p'], /--processor: must be HOST:PORT/],
    [[...NEEDED, '--kills', '0'], /--kills: must be at least 1/],
    [[...NEEDED, '--kills', 'many'], /--kills: /],
    [[...NEEDED, '--colour', 'red'], /--colour/],
    [[...NEEDED, 'more'], /more/],
  ];
  for (const [args, message] of wrong) {
    it(`rejects ${JSON.stringify(args)}`, () => {
      assert.throws(() => readOptions(args, {}), message);
    });
  }
});
