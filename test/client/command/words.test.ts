import assert from 'node:assert/strict';
import { useStack } from '../../stack.ts';
import { printedBy, runLine } from './run-line.ts';

describe('the command line, of what a merchant says', () => {
  let env: Record<string, string>;
  before(async () => {
    const { file } = await useStack();
    env = { HOLDFAST_BASE_URL: file.baseUrl, HOLDFAST_API_KEY: file.apiKey };
  });
  const printed = (line: string) => printedBy(line, env);

  it('keeps reference, reason and metadata of captures, increments, releases, refunds and OCTs', async () => {
    const words = { merchantReference: 'part-7', reason: 'broken', metadata: { shelf: 'a=3', note: '' } };
    const said = '--reference part-7 --reason broken --metadata shelf=a=3 --metadata note=';
    const of = ({ merchantReference, reason, metadata }: typeof words) => ({ merchantReference, reason, metadata });
    const hold = await printed('hold --amount 10 --token tok_sandbox_ok --metadata room=12');
    assert.deepEqual(hold.metadata, { room: '12' });
    const capture = await printed(`capture ${hold.requestId} --amount 4 ${said}`);
    const requestIds = [
      capture.requestId,
      (await printed(`increment ${hold.requestId} --amount 1 ${said}`)).requestId,
      (await printed(`refund ${capture.requestId} ${said}`)).requestId,
      (await printed(`release ${hold.requestId} --currency EUR ${said}`)).releaseRequestId,
      (await printed(`oct --amount 1 --token tok_sandbox_ok ${said}`)).requestId,
    ];
    for (const requestId of requestIds) {
      const operation = await printed(`get ${requestId}`);
      assert.deepEqual(of(operation), words, operation.operation);
    }
    const { code, text } = await runLine(`refund ${capture.requestId} --metadata shelf`, env);
    assert.deepEqual([code, text], [2, '--metadata shelf has no value: write it as NAME=VALUE']);
    assert.equal((await runLine(`refund ${capture.requestId} --metadata a=1 --metadata a=2`, env)).code, 2);
  });
});
