import assert from 'node:assert/strict';
import { EndpointPause, NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { FRESH, lockEndpoints, writeEndpoints } from '../../../../../services/core/storage/endpoint/endpoint-row.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { contract, openStage, refusal, why } from '../../stage.ts';

describe('SetWebhookUrl', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.channel('operator'));

  const set = (merchantId: string, webhookUrl: string) => operator.merchants.setWebhookUrl({ merchantId, webhookUrl });

  it('changes only the address in the contract, and the next notification goes there', async () => {
    const shop = await openMerchant(stage, 'moving', { internalUrl: 'https://inner.example' });
    const { merchant: before } = await operator.merchants.getMerchant({ merchantId: 'moving' });
    const { merchant } = await set('moving', 'https://merchant.example/hooks');
    assert.deepEqual(merchant?.contract, { ...before?.contract, webhookUrl: 'https://merchant.example/hooks' });
    const { requestId } = await shop.hold();
    const notifications = operator.opened.client(NotificationService);
    const { deliveries } = await notifications.listDeliveries({ requestId });
    assert.equal(deliveries.length, 1);
    assert.equal((await set('moving', '')).merchant?.contract?.webhookUrl, '');
    assert.equal(
      (await notifications.listDeliveries({ requestId: (await shop.hold()).requestId })).deliveries.length,
      0,
    );
  });

  it('makes due now what waits for a later attempt, when the address changes, and nothing of others', async () => {
    const hours = (count: number) => new Date(stage.clock.now() + count * 3_600_000);
    for (const merchantId of ['hurries', 'waits']) {
      const shop = await openMerchant(stage, merchantId, { webhookUrl: 'https://old.example' });
      await shop.hold();
      await shop.hold();
      const late = 'update delivery set attempt_count = 7, due_at = $2 where merchant_id = $1';
      await sql(stage, late, [merchantId, hours(6)]);
    }
    const due = (merchantId: string) =>
      sql<{ due_at: Date; attempt_count: number; retry_base: number }>(
        stage,
        'select due_at, attempt_count, retry_base from delivery where merchant_id = $1',
        [merchantId],
      );
    const waiting = { due_at: hours(6), attempt_count: 7, retry_base: 0 };
    await set('hurries', 'https://old.example');
    await set('hurries', '');
    assert.deepEqual(await due('hurries'), [waiting, waiting]);
    await set('hurries', 'https://new.example');
    const now = { ...waiting, due_at: hours(0) };
    assert.deepEqual(await due('hurries'), [now, now]);
    assert.deepEqual(await due('waits'), [waiting, waiting]);
    // An operator's change of the contract does the same.
    const moved = contract({ webhookUrl: 'https://new.example' });
    await operator.merchants.updateMerchant({ merchantId: 'waits', name: 'waits', contract: moved });
    assert.deepEqual(await due('waits'), [now, now]);
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
    const act = `${remains ? 'leaves' : 'ends'} a pause of the kind ${pause}`;
    const pausedMerchant = async (merchantId: string) => {
      await operator.merchants.createMerchant({ merchantId, name: 'P', contract: contract() });
      const key = { merchantId, endpointId: 'webhook' } as const;
      const at = new Date(stage.clock.now());
      await stage.database.transaction(async (query) => {
        await lockEndpoints(query, [key], at);
        const pausedUntil = pause === 'BREAKER' ? new Date(at.getTime() + 60_000) : null;
        await writeEndpoints(query, [{ ...FRESH, ...key, pause, pausedUntil, failureCount: 10, pauseCount: 1 }], at);
      });
      return merchantId;
    };
    const pausesOf = async (merchantId: string) => {
      const { endpoints } = await operator.opened.client(NotificationService).listEndpoints({ merchantId });
      return endpoints.map((endpoint) => EndpointPause[endpoint.pause]);
    };

    it(`${act}, however often it is called`, async () => {
      const merchantId = await pausedMerchant(`paused-${pause.toLowerCase()}`);
      for (let times = 0; times < 2; times++) await set(merchantId, 'https://merchant.example');
      assert.deepEqual(await pausesOf(merchantId), remains ? [pause] : []);
    });

    it(`${act}, when the call is repeated because it failed half-way`, async () => {
      const merchantId = await pausedMerchant(`half-${pause.toLowerCase()}`);
      const moved = { merchantId, name: 'P', contract: contract({ webhookUrl: 'https://new.example' }) };
      await sql(
        stage,
        `create function fail() returns trigger language plpgsql as 'begin raise exception ''no''; end'`,
      );
      await sql(stage, 'create trigger fail before update on endpoint for each row execute function fail()');
      try {
        const failed = await Promise.allSettled([operator.merchants.updateMerchant(moved)]);
        assert.deepEqual(
          failed.map(({ status }) => status),
          [remains ? 'fulfilled' : 'rejected'],
        );
      } finally {
        await sql(stage, 'drop function fail cascade');
      }
      await operator.merchants.updateMerchant(moved);
      assert.deepEqual(await pausesOf(merchantId), remains ? [pause] : []);
    });

    it(`${act}, when an operator's change of the contract moves the endpoint`, async () => {
      const merchantId = await pausedMerchant(`moved-${pause.toLowerCase()}`);
      const change = (webhookUrl?: string) =>
        operator.merchants.updateMerchant({
          merchantId,
          name: 'Q',
          contract: contract(webhookUrl ? { webhookUrl } : {}),
        });
      await change();
      assert.deepEqual(await pausesOf(merchantId), [pause], 'not moved');
      await change('https://merchant.example');
      assert.deepEqual(await pausesOf(merchantId), remains ? [pause] : []);
    });
  }
});
