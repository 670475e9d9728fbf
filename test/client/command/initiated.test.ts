import assert from 'node:assert/strict';
import { useStack } from '../../stack.ts';
import { forSuite } from '../../suite.ts';
import { printedBy, runLine } from './run-line.ts';

describe('a hold from the command line', () => {
  const stack = forSuite(useStack);
  const env = () => ({ HOLDFAST_BASE_URL: stack.file.baseUrl, HOLDFAST_API_KEY: stack.file.apiKey });
  const printed = (line: string) => printedBy(line, env());
  const refused = async (line: string) => (await runLine(line, env())).text;
  const HOLD = 'hold --amount 10 --token tok_sandbox_customer_first';

  it('sends the customer to its issuer', async () => {
    const hold = await printed(`${HOLD} --return-url https://shop.example/done --challenge`);
    assert.equal(hold.nextAction.type, 'redirect');
  });

  it('says why the merchant initiates it', async () => {
    const hold = await printed(`${HOLD} --merchant-initiated no_show --network-transaction 0123456789`);
    assert.deepEqual(hold.merchantInitiated, { reason: 'no_show', networkTransactionId: '0123456789' });
    assert.match(await refused(`${HOLD} --merchant-initiated whim`), /merchantInitiated/);
    assert.match(await refused(`${HOLD} --network-transaction 1`), /goes with --merchant-initiated/);
  });
});
