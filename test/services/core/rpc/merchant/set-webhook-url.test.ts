import assert from 'node:assert/strict';
import { EndpointPause, NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { endpointName, lockEndpoint, writeEndpoint } from '../../../../../services/core/storage/endpoint/endpoint.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../desk.ts';
import { contract, openStage, refusal, why } from '../../stage.ts';

describe('SetWebhookUrl', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.channel('operator'));

  const set = (merchantId: string, webhookUrl: string) => operator.merchants.setWebhookUrl({ merchantId, webhookUrl });

  it('changes only the address in the contract, and the next notification goes there', async () => {
    const desk = await openMerchant(stage, 'moving', { internalUrl: 'https://inner.example' });
    const { merchant: before } = await operator.merchants.getMerchant({ merchantId: 'moving' });
    const { merchant } = await set('moving', 'https://merchant.example/hooks');
    assert.deepEqual(merchant?.contract, { ...before?.contract, webhookUrl: 'https://merchant.example/hooks' });
    const { requestId } = await desk.hold();
    const notifications = operator.opened.client(NotificationService);
    const { deliveries } = await notifications.listDeliveries({ requestId });
    assert.equal(deliveries.length, 1);
    assert.equal((await set('moving', '')).merchant?.contract?.webhookUrl, '');
    assert.equal(
      (await notifications.listDeliveries({ requestId: (await desk.hold()).requestId })).deliveries.length,
      0,
    );
  });

  it('rejects an invalid or undeliverable address, and an unknown merchant', async () => {
    await openMerchant(stage, 'kept', { webhookUrl: 'https://merchant.example' });
    const wrong = [
      ...['merchant.example', 'ftp://merchant.example', 'https://ann:secret@merchant.example', 'https://m.example?a=1'],
      ...['https://m.example#a', 'http://169.254.169.254', 'https://[fe80::1]', 'https://m.example/4242424242424242'],
    ];
    for (const url of wrong) {
      const { reason } = await refusal(set('kept', url));
      assert.equal(reason, 'INVALID_REQUEST', url);
    }
    const { merchant } = await operator.merchants.getMerchant({ merchantId: 'kept' });
    assert.equal(merchant?.contract?.webhookUrl, 'https://merchant.example');
    assert.equal(await why(set('nobody', 'https://merchant.example')), 'OPERATION_NOT_FOUND');
  });

  for (const [pause, remains] of [
    ['GONE', false],
    ['BREAKER', false],
    ['OPERATOR', true],
  ] as const) {
    it(`${remains ? 'leaves' : 'ends'} a pause of the kind ${pause}, however often it is called`, async () => {
      const merchantId = `paused-${pause.toLowerCase()}`;
      await operator.merchants.createMerchant({ merchantId, name: 'P', contract: contract() });
      const key = { merchantId, kind: 'webhook' } as const;
      const at = new Date(stage.clock.now());
      await stage.database.transaction(async (query) => {
        await lockEndpoint(query, key, at);
        const pausedUntil = pause === 'BREAKER' ? new Date(at.getTime() + 60_000) : null;
        await writeEndpoint(query, key, { pause, pausedUntil, failureCount: 10, pauseCount: 1 }, at);
      });
      for (let times = 0; times < 2; times++) await set(merchantId, 'https://merchant.example');
      const { endpoints } = await operator.opened.client(NotificationService).listEndpoints({ merchantId });
      assert.deepEqual(
        endpoints.map((endpoint) => EndpointPause[endpoint.pause]),
        remains ? [pause] : [],
        endpointName(key),
      );
    });
  }
});
