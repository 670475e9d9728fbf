import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

describe('ReplayDelivery', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.client('operator', NotificationService));
  const gateway = forSuite(() => stage.client('gateway', NotificationService));

  async function merchantWithDelivery(merchantId: string) {
    const shop = await openMerchant(stage, merchantId, { webhookUrl: 'https://merchant.example' });
    const { requestId } = await shop.hold();
    const { deliveries } = await operator.listDeliveries({ requestId });
    const { key } = await stage.channel('operator').merchants.createApiKey({ merchantId, managesWebhook: true });
    const call = { metadata: { 'x-api-key-sha256': createHash('sha256').update(key).digest('base64') } };
    return { deliveryId: deliveries[0]?.deliveryId ?? '', call };
  }

  it('lets a merchant replay sixty times a minute, and an operator as often as needed', async () => {
    const { deliveryId, call } = await merchantWithDelivery('eager');
    stage.clock.advance(60_000 - (stage.clock.now() % 60_000));
    const replay = () => gateway.replayDelivery({ merchantId: 'eager', deliveryId }, call);
    for (let count = 0; count < 60; count++) await replay();
    assert.equal(await why(replay()), 'RATE_LIMITED');
    await operator.replayDelivery({ deliveryId });
    stage.clock.advance(60_000);
    await replay();
  });

  it('replays no delivery that had 200 attempts, alone or in a range', async () => {
    const { deliveryId } = await merchantWithDelivery('worn');
    const end = (attempts: number) =>
      sql(stage, `update delivery set state = 'DEAD', due_at = null, attempt_count = $2 where id = $1`, [
        deliveryId,
        attempts,
      ]);
    await end(200);
    assert.equal(await why(operator.replayDelivery({ deliveryId })), 'INVALID_REQUEST');
    assert.equal((await operator.replayDeliveries({ merchantId: 'worn' })).replayedCount, 0);
    await end(199);
    assert.equal((await operator.replayDeliveries({ merchantId: 'worn' })).replayedCount, 1);
  });
});
