import assert from 'node:assert/strict';
import { forSuite } from '../../../suite.ts';
import { declined } from '../fake-processor.ts';
import { openScriptedStage } from '../scripted-stage.ts';
import { refusal } from '../stage.ts';

describe('openProcessor()', function () {
  this.timeout(30_000);
  const scripted = forSuite(openScriptedStage);

  it('truncates an endless answer to the limits of the contract, so that it can be stored and returned', async () => {
    const { desk, processor } = scripted;
    const errorCode = 'c'.repeat(100);
    const errorMessage = `${'m'.repeat(499)}\u{1F4B3}${'m'.repeat(20_000)}`;
    processor.says.authorize = () => ({ ...declined, errorCode, errorMessage });
    const key = { idempotencyKey: 'endless' };
    for (const replayed of [undefined, 'true']) {
      const { reason, metadata } = await refusal(desk.place(key));
      assert.deepEqual([reason, metadata.replayed], ['CARD_DECLINED', replayed]);
      assert.deepEqual([metadata.processorCode, metadata.processorMessage], [errorCode.slice(0, 64), 'm'.repeat(499)]);
      const { processorError } = await desk.get({ requestId: metadata.requestId ?? '' });
      assert.deepEqual([processorError?.code, processorError?.message], [errorCode.slice(0, 64), 'm'.repeat(499)]);
    }
  });
});
