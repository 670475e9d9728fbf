import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('GetPreauthorization', () => {
  const stage = forSuite(() => openStage());

  it('shows a hold that has ended without its preauthorizationId when the key of that is gone', async () => {
    const shop = await openMerchant(stage, 'rotated');
    const hold = await shop.hold();
    await shop.release(hold);
    const ended = await shop.get(hold);
    assert.equal(ended.preauthorizationId, hold.preauthorizationId);
    await sql(stage, `update hold set id_key = 'gone' where request_id = '${hold.requestId}'`);
    assert.deepEqual(await shop.get(hold), { ...ended, preauthorizationId: '' });
  });
});
