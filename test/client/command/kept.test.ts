import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { useStack } from '../../stack.ts';
import { forSuite } from '../../suite.ts';
import { printedBy, runLine } from './run-line.ts';

describe('a hold that is kept, from the command line', () => {
  const stack = forSuite(useStack);
  const env = () => ({ HOLDFAST_BASE_URL: stack.file.baseUrl, HOLDFAST_API_KEY: stack.file.apiKey });
  const printed = (line: string) => printedBy(line, env());
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 3_600_000).toISOString();

  it('is placed so, kept longer, and no longer', async () => {
    const [until, later] = [inDays(10), inDays(20)];
    const hold = await printed(`hold --amount 10 --token tok_sandbox_ok --keep-until ${until}`);
    assert.equal(hold.keepUntil, until);
    assert.equal((await printed(`update ${hold.requestId} --keep-until ${later}`)).keepUntil, later);
    assert.equal((await printed(`get ${hold.requestId}`)).authorizations.length, 1);
    assert.equal((await printed(`update ${hold.requestId} --keep-until=`)).keepUntil, undefined);
  });

  it('is refused without a token, and too far away', async () => {
    for (const line of [`--keep-until ${inDays(1)}`, `--keep-until ${inDays(91)} --token tok_sandbox_ok`]) {
      const { code, text } = await runLine(`hold --amount 10 ${line}`, env());
      assert.equal(code, 1);
      assert.match(text, /keepUntil/);
    }
  });

  for (const word of ['renewed', 'renewal_declined']) {
    it(`is made by trigger ${word}`, async () => {
      const { requestId } = await printed(`trigger ${word}`);
      for (;;) {
        const { body } = await stack.shop.get(`/operations?holdRequestId=${requestId}`);
        const [result] = body.items;
        if (result) return assert.equal(result.statusInfo, word);
        await delay(100);
      }
    });
  }
});
