import assert from 'node:assert/strict';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { playDemo } from '../../services/quickstart/demo-story.ts';
import { useStack } from '../stack.ts';
import { forSuite } from '../suite.ts';

describe('npm run demo', () => {
  const stack = forSuite(useStack);

  it('plays each step of the main job, although an earlier demo died while it rotated a secret', async () => {
    const { merchantId } = stack.file.singleCapture;
    await asOperator(stack.file, (merchants) => merchants.addSigningSecret({ merchantId }));
    const lines: string[] = [];
    await playDemo(stack.file, (line) => lines.push(line));
    const text = lines.join('\n');
    assert.equal(text.match(/^\d+\. /gm)?.length, 14);
    assert(lines.length >= 35);
    const answers = [
      /401 for a random signature/,
      /200 and X-Relay-Duplicate/,
      /202 and X-Relay-Held: conflict/,
      /202 and X-Relay-Held: contradiction/,
    ];
    for (const answer of [...answers, /AddSigningSecret: 200/, /RetireSigningSecret: 401/]) assert.match(text, answer);
    assert.doesNotMatch(text, /pre_|hf_|whsec_/);
  });

  it('fails when it sees anything unexpected', async () => {
    const forged = { ...stack.file, signingSecret: 'whsec_other' };
    await assert.rejects(
      playDemo(forged, () => undefined),
      /answered 401 .* where 200 was due/,
    );
  });
});
