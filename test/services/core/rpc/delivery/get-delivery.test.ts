import assert from 'node:assert/strict';
import { NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { signNotification } from '../../../../../webhooks/signature.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../desk.ts';
import { openStage } from '../../stage.ts';
import { notification } from '../notification/verified.ts';

describe('GetDelivery', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.client('operator', NotificationService));
  const urls = { webhookUrl: 'https://merchant.example/hooks/', internalUrl: 'https://inner.example' };
  const acme = forSuite(() => openMerchant(stage, 'acme', urls));

  async function read(requestId: string) {
    const { deliveries } = await operator.listDeliveries({ requestId });
    assert.equal(deliveries.length, 1);
    return operator.getDelivery({ deliveryId: deliveries[0]?.deliveryId ?? '' });
  }

  it('shows what an attempt sends: address, headers with the first characters of each signature, and body', async () => {
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
    assert.match(content.body, /"amount": 10\.50,\n {2}"big": 12345678901234567890,/);
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
  });
});
