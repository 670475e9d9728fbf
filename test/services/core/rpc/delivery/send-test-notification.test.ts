import assert from 'node:assert/strict';
import {
  DeliveryState,
  EndpointKind,
  NotificationService,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

describe('SendTestNotification', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.channel('operator'));

  const notifications = () => operator.opened.client(NotificationService);

  it('creates a delivery without an operation that is due at once, and says so in its body', async () => {
    await openMerchant(stage, 'tester', { webhookUrl: 'https://merchant.example/hooks' });
    const { delivery } = await notifications().sendTestNotification({ merchantId: 'tester' });
    const { deliveryId = '', requestId = '' } = delivery ?? {};
    assert.deepEqual(
      [delivery?.state, delivery?.endpointKind, delivery?.statusInfo, delivery?.attemptCount],
      [DeliveryState.PENDING, EndpointKind.WEBHOOK, 'test', 0],
    );
    assert.deepEqual(delivery?.dueAt, delivery?.createdAt);
    const { content, operation } = await notifications().getDelivery({ deliveryId });
    assert.equal(operation, undefined);
    assert.equal(content?.url, 'https://merchant.example/hooks/webhook/processor/payment/test');
    const finalStateDate = new Date(stage.clock.now()).toISOString();
    assert.deepEqual(JSON.parse(content.body), {
      merchantId: 'tester',
      requestId,
      status: 'OK',
      amount: 0,
      currency: 'EUR',
      finalStateDate,
      type: 'payment.test',
      test: true,
    });
    const again = await notifications().sendTestNotification({ merchantId: 'tester' });
    assert.notEqual(again.delivery?.requestId, requestId);
  });

  it('rejects a missing webhookUrl and an unknown merchant, and stores nothing', async () => {
    await openMerchant(stage, 'silent', { internalUrl: 'https://inner.example' });
    assert.equal(await why(notifications().sendTestNotification({ merchantId: 'silent' })), 'INVALID_REQUEST');
    const nobody = notifications().sendTestNotification({ merchantId: 'nobody' });
    assert.equal(await why(nobody), 'OPERATION_NOT_FOUND');
    const stored = `select from delivery where merchant_id in ('silent', 'nobody')
      union all select from audit_entry where action = 'delivery.test' and target in ('silent', 'nobody')`;
    assert.equal((await sql(stage, stored)).length, 0);
  });

  it('sends a merchant five a minute, whoever asks', async () => {
    await openMerchant(stage, 'eager', { webhookUrl: 'https://merchant.example' });
    const send = () => notifications().sendTestNotification({ merchantId: 'eager' });
    stage.clock.advance(60_000 - (stage.clock.now() % 60_000));
    const answers = await Promise.allSettled(Array.from({ length: 20 }, send));
    assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 5);
    assert.equal(await why(send()), 'RATE_LIMITED');
    stage.clock.advance(60_000);
    await send();
    const stored = await sql(stage, `select from delivery where merchant_id = 'eager'`);
    const audited = await sql(stage, `select from audit_entry where action = 'delivery.test' and target = 'eager'`);
    assert.deepEqual([stored.length, audited.length], [6, 6]);
  });
});
