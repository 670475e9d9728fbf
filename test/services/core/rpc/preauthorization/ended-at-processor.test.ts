/** What is done with a hold that has ended at the processor some moments before it ends here. */
import assert from 'node:assert/strict';
import { notPerformed } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { refusal } from '../../stage.ts';

describe('a hold that has ended at the processor', () => {
  const { shop, processor } = useScriptedStage();

  for (const [code, reason] of [
    ['authorization_expired', 'HOLD_EXPIRED'],
    ['authorization_voided', 'HOLD_RELEASED'],
    ['another_reason', 'PROCESSOR_ERROR'],
  ] as const) {
    it(`refuses as ${reason} what is answered ${code}, and keeps the operation as KO`, async () => {
      const hold = await shop.hold();
      const said = () => notPerformed(code);
      Object.assign(processor.says, {
        capture: said,
        void: said,
        incrementAuthorization: said,
        extendAuthorization: said,
      });
      const acts = {
        capture: (key: object) => shop.capture(hold, 100n, key),
        increment: (key: object) => shop.increment(hold, 100n, key),
        extension: (key: object) => shop.extend(hold, key),
        release: (key: object) => shop.release(hold, key),
      };
      for (const [what, act] of Object.entries(acts)) {
        const key = { idempotencyKey: `${code}-${what}` };
        const { reason: first, metadata } = await refusal(act(key));
        assert.deepEqual([first, metadata.processorCode], [reason, code], what);
        const { operation } = await shop.operations.getOperation({
          merchantId: 'acme',
          requestId: metadata.requestId ?? '',
        });
        assert.deepEqual([operation?.statusInfo, operation?.processorError?.code], ['failed', code], what);
        const again = await refusal(act(key));
        assert.deepEqual([again.reason, again.metadata.requestId], [reason, metadata.requestId], what);
      }
    });
  }

  it('does not make a card that expired, or a refund, an end of the hold', async () => {
    const capture = await shop.captured();
    processor.says.refund = () => notPerformed('authorization_expired');
    processor.says.authorize = () => notPerformed('authorization_expired');
    assert.equal((await refusal(shop.refund(capture, 100n))).reason, 'PROCESSOR_ERROR');
    assert.equal((await refusal(shop.place())).reason, 'PROCESSOR_ERROR');
  });
});
