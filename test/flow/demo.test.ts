import assert from 'node:assert/strict';
import { playDemo } from '../../services/quickstart/demo-story.ts';
import { type Stack, useStack } from '../stack.ts';

describe('npm run demo', () => {
  let stack: Stack;

  before(async function () {
    this.timeout(60_000);
    stack = await useStack();
  });

  it('plays the main job, each step shown', async function () {
    this.timeout(30_000);
    const lines: string[] = [];
    await playDemo(stack.file, (line) => lines.push(line));
    const text = lines.join('\n');
    assert.equal(text.match(/^\d+\. /gm)?.length, 7);
    assert(lines.length >= 25);
    assert.doesNotMatch(text, /pre_|hf_|whsec_/);
  });

  it('fails when it sees anything else', async () => {
    const forged = { ...stack.file, signingSecret: 'whsec_other' };
    await assert.rejects(
      playDemo(forged, () => undefined),
      /answered 401 .* where 200 was due/,
    );
  });
});
