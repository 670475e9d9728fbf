import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';
import { why } from '../../stage.ts';

describe('a renewal whose key was lost by a restore', () => {
  const { scripted } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'renewing', { allowMultipleCaptures: true }));

  it('is found by its key, whatever remains of the old hold by then', async () => {
    const old = await shop.hold();
    const keyed = { idempotencyKey: 'renewal' };
    const first = await shop.renew(old, keyed);
    const renewed = first.preauthorization?.requestId ?? assert.fail();
    await sql(scripted.stage, 'update claim set key = null, method = null, fingerprint = null where request_id = $1', [
      renewed,
    ]);
    await shop.capture(old, 1_000n);
    assert.equal(await why(shop.renew(old, { ...keyed, amount: 5n })), 'IDEMPOTENCY_KEY_REUSED');
    const again = await shop.renew(old, keyed);
    assert.deepEqual([again.preauthorization, again.replayed], [first.preauthorization, true]);
  });
});
