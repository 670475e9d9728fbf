import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { signNotification, verifyStandardWebhook } from '../../../../../client/webhooks/signature.ts';
import { NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';
import { notification } from '../notification/verified.ts';

describe('GetDelivery', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.client('operator', NotificationService));
  const urls = { webhookUrl: 'https://merchant.example/hooks/', internalUrl: 'https://inner.example' };
  const acme = forSuite(() => openMerchant(stage, 'acme', urls));

  const asMerchant = forSuite(async () => {
    const { key } = await stage
      .channel('operator')
      .merchants.createApiKey({ merchantId: 'acme', managesWebhook: true });
    return { metadata: { 'x-api-key-sha256': createHash('sha256').update(key).digest('base64') } };
  });

  /** As the gateway reads it for the merchant. */
  async function readOwn(requestId: string) {
    const gateway = stage.client('gateway', NotificationService);
    const { deliveries } = await gateway.listDeliveries({ merchantId: 'acme', requestId }, asMerchant);
    return gateway.getDelivery({ merchantId: 'acme', deliveryId: deliveries[0]?.deliveryId ?? '' }, asMerchant);
  }

  async function read(requestId: string) {
    const { deliveries } = await operator.listDeliveries({ requestId });
    assert.equal(deliveries.length, 1);
    return operator.getDelivery({ deliveryId: deliveries[0]?.deliveryId ?? '' });
  }

  it('shows what an attempt sends: address, headers with the beginning of each signature, and body', async () => {
    const hold = await acme.hold({ tokenId: 'tok_sandbox_ok' });
    const { capture } = await acme.capture(hold, 4_000n);
    const { delivery, content, operation } = await read(capture?.requestId ?? '');
    assert.equal(content?.url, 'https://merchant.example/hooks/webhook/processor/payment/captured');
    const headers = Object.fromEntries(content.headers.map(({ name, value }) => [name, value]));
    const fields = { requestId: capture?.requestId ?? '', status: 'OK', amount: '4000', currency: 'EUR' };
    const signature = signNotification(acme.signingSecret, { merchantId: 'acme', ...fields });
    assert.equal(headers['x-service-signature'], `${signature.slice(0, 12)}…`);
    assert.match(headers['webhook-signature'] ?? '', /^v1,[^ ]{9}…$/);
    assert.deepEqual([headers['webhook-id'], headers['content-type']], [delivery?.deliveryId, 'application/json']);
    const body = JSON.parse(content.body);
    assert.deepEqual([body.requestId, body.amount, body.holdRequestId], [fields.requestId, 4_000, hold.requestId]);
    assert.deepEqual([operation?.requestId, operation?.holdRequestId], [fields.requestId, hold.requestId]);
  });

  it("shows a relayed notification with its sender's numbers, and hides what captures or pays", async () => {
    const secrets = ['pre_handle', 'tok_generated', 'https://checkout.example/c'];
    const [preauthorizationId, tokenId, checkoutUrl] = secrets;
    const inner = { preauthorizationId, checkoutUrl, tokenData: { tokenId }, list: [{ tokenId: { tokenId } }] };
    const body = `{"requestId":"r-1","amount":10.50,"big":12345678901234567890,"inner":${JSON.stringify(inner)}}`;
    const relayed = notification('r-1', { merchantId: 'acme', body: Buffer.from(body) });
    await stage.client('gateway', NotificationService).acceptNotification(relayed);
    const { content, operation } = await read('r-1');
    assert.equal(operation, undefined);
    assert.equal(content?.url, 'https://inner.example/webhook/processor/payment/captured');
    const hidden = JSON.stringify(inner).replace(/"(pre_handle|tok_generated|https:[^"]*)"/g, '"(hidden)"');
    assert.equal(content?.body, body.replace(JSON.stringify(inner), hidden), 'every other byte is as it is sent');
    for (const secret of secrets) assert(!content.body.includes(secret ?? ''), secret);
    const names = content.headers.map(({ name }) => name);
    assert(names.includes('x-relay-signed-fields'));
    assert(!JSON.stringify(content.headers.map(({ value }) => value)).includes('A'.repeat(43)));
  });

  it('shows neither headers nor body once the body is purged, and no address where there is none', async () => {
    const { requestId } = await acme.hold();
    await sql(stage, 'update delivery set body = null where request_id = $1', [requestId]);
    await sql(stage, `update merchant set webhook_url = null where id = 'acme'`);
    const { content } = await read(requestId);
    assert.deepEqual([content?.url, content?.headers, content?.body], ['', [], '']);
    await sql(stage, 'update merchant set webhook_url = $1', [urls.webhookUrl]);
  });

  it('shows the merchant the exact bytes that an attempt sends, with signatures that a receiver verifies', async () => {
    const body = `{"requestId":"r-2", "amount" :10.50,"tokenData":{"tokenId":"tok_generated"},"escaped":"\\u00e9\\/"}`;
    const relayed = notification('r-2', { merchantId: 'acme', body: Buffer.from(body) });
    await stage.client('gateway', NotificationService).acceptNotification(relayed);
    const { content } = await readOwn('r-2');
    assert.equal(content?.body, body);
    const headers = Object.fromEntries(content.headers.map(({ name, value }) => [name, value]));
    const parts = { id: headers['webhook-id'], timestamp: headers['webhook-timestamp'] };
    const signed = { ...parts, signature: headers['webhook-signature'] };
    assert(verifyStandardWebhook([acme.signingSecret], signed, body, stage.clock.now() / 1_000));
    assert.equal(headers['x-service-signature'], relayed.signature);
  });

  it('shows attempts by page, to operators with the reason in detail and to the merchant in a few words', async () => {
    const { requestId } = await acme.hold();
    const { delivery } = await read(requestId);
    const deliveryId = delivery?.deliveryId ?? '';
    const detail = 'ECONNREFUSED: connect ECONNREFUSED 10.1.2.3:443';
    const head = 'é'.repeat(1_024);
    await sql(
      stage,
      `insert into delivery_attempt (delivery_id, number, merchant_id, started_at, latency_ms, error, fault, url,
        response_head)
        select $1, number, 'acme', now(), 1, $2, 'UNREACHABLE', $3, $4 from generate_series(1, 4500) number`,
      [deliveryId, detail, `https://${'x'.repeat(2_000)}`, head],
    );
    const numbersOf = async (pageToken: string, pageSize = 0) => {
      const { delivery: whole, nextPageToken } = await operator.getDelivery({ deliveryId, pageToken, pageSize });
      assert.equal(whole?.attempts[0]?.error, detail);
      return { numbers: whole.attempts.map(({ number }) => number), nextPageToken };
    };
    const newest = await numbersOf('', 200);
    assert.deepEqual([newest.numbers.length, newest.numbers[0], newest.numbers.at(-1)], [50, 4_451, 4_500]);
    const earlier = await numbersOf(newest.nextPageToken, 2);
    assert.deepEqual(earlier.numbers, [4_449, 4_450]);
    const own = await readOwn(requestId);
    assert.equal(own.delivery?.attempts.length, 50);
    assert.equal(own.delivery.attempts[0]?.error, 'the endpoint cannot be reached');
    assert.match(own.delivery.attempts[0]?.url ?? '', /^https:\/\/xxx/);
    const elsewhere = { deliveryId: (await read((await acme.hold()).requestId)).delivery?.deliveryId ?? '' };
    assert.equal(await why(operator.getDelivery({ ...elsewhere, pageToken: newest.nextPageToken })), 'INVALID_REQUEST');
  });
});
