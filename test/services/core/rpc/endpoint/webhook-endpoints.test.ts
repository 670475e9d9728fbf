import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { NotificationService } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import {
  type CreateWebhookEndpointRequestSchema,
  WebhookEndpointService,
} from '../../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { FRESH, lockEndpoints, writeEndpoints } from '../../../../../services/core/storage/endpoint/endpoint-row.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

type Settings = Omit<MessageInitShape<typeof CreateWebhookEndpointRequestSchema>, '$typeName' | 'merchantId'>;

const URL = 'https://books.example/hooks';

describe('WebhookEndpointService', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.channel('operator'));
  const endpoints = forSuite(() => operator.opened.client(WebhookEndpointService));
  const notifications = forSuite(() => operator.opened.client(NotificationService));

  const create = (merchantId: string, settings: Partial<Settings> = {}) =>
    endpoints.createWebhookEndpoint({ merchantId, url: URL, ...settings });
  const list = async (merchantId: string) => (await endpoints.listWebhookEndpoints({ merchantId })).endpoints;

  it('adds an endpoint with its settings, and shows its secret once and its headers never', async () => {
    await openMerchant(stage, 'adds', { webhookUrl: 'https://merchant.example' });
    const { endpoint, signingSecret } = await create('adds', {
      types: { types: ['payment.refunded', 'oct.*'] },
      description: 'Accounting',
      headers: { headers: { Authorization: 'Bearer hidden-from-all', 'X-Shop': 'north' } },
      timeoutSeconds: 25,
    });
    assert(endpoint);
    assert.match(endpoint.endpointId, /^webhook-[0-9a-f]{8}-[0-9a-f]{4}-7/);
    assert.match(signingSecret, /^whsec_/);
    const { types, headerNames, timeoutSeconds, description, purpose, url, warnings } = endpoint;
    assert.deepEqual(
      { types, headerNames, timeoutSeconds, description, purpose, url, warnings },
      {
        types: ['oct.*', 'payment.refunded'],
        headerNames: ['authorization', 'x-shop'],
        timeoutSeconds: 25,
        description: 'Accounting',
        purpose: 'merchant',
        url: URL,
        warnings: [],
      },
    );
    const all = await list('adds');
    assert.deepEqual(
      all.map(({ endpointId, timeoutSeconds: limit, signingSecrets }) => [endpointId, limit, signingSecrets.length]),
      [
        ['default', 10, 1],
        [endpoint.endpointId, 25, 1],
      ],
    );
    assert.deepEqual(
      (await endpoints.getWebhookEndpoint({ merchantId: 'adds', endpointId: endpoint.endpointId })).endpoint,
      all[1],
    );
    const kept = await sql(stage, 'select * from webhook_endpoint union all select * from webhook_endpoint');
    const audited = await sql(stage, `select * from audit_entry where target = 'adds'`);
    assert.doesNotMatch(inspect([all, kept, audited], { depth: 9 }), /hidden-from-all|whsec_/);
  });

  it('sends to each endpoint what it asks for, the same bytes under a webhook-id of its own', async () => {
    const shop = await openMerchant(stage, 'fans', { webhookUrl: 'https://merchant.example' });
    const everything = await create('fans', { url: 'https://all.example' });
    const captures = await create('fans', { types: { types: ['payment.captured'] } });
    await create('fans', { types: { types: ['oct.*'] } });
    const payments = await create('fans', { types: { types: ['payment.*', 'oct.paid'] } });
    const hold = await shop.hold();
    const { capture } = await shop.capture(hold, 100n);
    const sent = async (requestId = '') => {
      const { deliveries } = await notifications.listDeliveries({ requestId });
      return deliveries.map(({ endpointId }) => endpointId).sort();
    };
    const ids = (...created: (typeof everything)[]) => created.map(({ endpoint }) => endpoint?.endpointId ?? '');
    assert.deepEqual(await sent(hold.requestId), ['default', ...ids(everything, payments)].sort());
    assert.deepEqual(await sent(capture?.requestId), ['default', ...ids(everything, captures, payments)].sort());
    const rows = await sql<{ id: string; body: Buffer }>(
      stage,
      'select id, body from delivery where request_id = $1 order by id',
      [capture?.requestId],
    );
    assert.equal(new Set(rows.map(({ body }) => body.toString())).size, 1);
    assert.equal(new Set(rows.map(({ id }) => id)).size, 4);
    // The time in an id finds its partition, and orders deliveries.
    assert.equal(new Set(rows.map(({ id }) => id.slice(0, 13))).size, 1);
    for (const { id } of rows)
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('sends to further endpoints also without a webhookUrl, and nothing of another merchant', async () => {
    const shop = await openMerchant(stage, 'only', {});
    await create('only');
    await openMerchant(stage, 'neighbour', {});
    await create('neighbour');
    const { requestId } = await shop.hold();
    const { deliveries } = await notifications.listDeliveries({ requestId });
    assert.deepEqual(
      deliveries.map(({ merchantId, endpointId }) => [merchantId, endpointId.slice(0, 8)]),
      [['only', 'webhook-']],
    );
  });

  it('stores no more than ten, also from simultaneous calls', async () => {
    await openMerchant(stage, 'many', {});
    const asked = Array.from({ length: 13 }, (_, index) => create('many', { url: `https://books.example/${index}` }));
    const answers = await Promise.allSettled(asked);
    assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 10);
    assert.equal(await why(create('many', { url: 'https://eleventh.example' })), 'INVALID_REQUEST');
    assert.equal((await list('many')).length, 10);
  });

  it('rejects what cannot work by name, and stores nothing', async () => {
    await openMerchant(stage, 'bad', { webhookUrl: 'https://merchant.example' });
    await create('bad', { types: { types: ['oct.*', 'payment.captured'] } });
    const wrong: readonly (readonly [Partial<Settings>, RegExp])[] = [
      [{ types: { types: ['payment.captred'] } }, /the nearest is payment\.captured/],
      [{ types: { types: ['payments.*'] } }, /the nearest is payment\.\*/],
      [{ types: { types: ['endpoint.failed'] } }, /the nearest is endpoint\.failing/],
      [{ types: { types: ['delivery.*'] } }, /is not a type of notification/],
      [{ types: { types: ['endpoint.*'] }, purpose: 'internal' }, /goes to endpoints of the purpose merchant only/],
      [{ types: { types: ['*'] } }, /types/],
      [{ url: 'ftp://books.example' }, /url/],
      [{ url: 'https://ann:secret@books.example' }, /url/],
      [{ url: 'http://169.254.169.254' }, /can never be delivered to/],
      [{ url: 'https://[64:ff9b::a9fe:a9fe]' }, /can never be delivered to/],
      [{ headers: { headers: { Host: 'other.example' } } }, /Host is set by HTTP or by Holdfast/],
      [{ headers: { headers: { 'Webhook-Signature': 'v1,x' } } }, /is set by/],
      [{ headers: { headers: { 'x-service-signature': 'x' } } }, /is set by/],
      [{ headers: { headers: { 'transfer-encoding': 'chunked' } } }, /is set by/],
      [{ headers: { headers: { 'X-A': '1', 'x-a': '2' } } }, /more than once/],
      [{ headers: { headers: { 'x-a': 'line\r\nbreak: 1' } } }, /headers/],
      [{ headers: { headers: { 'x a': '1' } } }, /headers/],
      [{ headers: { headers: { 'x-a': 'x'.repeat(1_025) } } }, /headers/],
      [{ headers: { headers: Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`x-${n}`, '1'])) } }, /headers/],
      [{ timeoutSeconds: 4 }, /timeout_seconds/],
      [{ timeoutSeconds: 31 }, /timeout_seconds/],
      [{ description: 'card 4242 4242 4242 4242' }, /must not contain a card number/],
      [{ purpose: 'other' }, /purpose/],
      [{ types: { types: ['payment.captured', 'oct.*'] } }, /is that of another endpoint/],
      [{ url: 'https://merchant.example' }, /is that of another endpoint/],
    ];
    for (const [settings, said] of wrong) {
      const { reason, ...rest } = await refusal(create('bad', settings));
      assert.equal(reason, 'INVALID_REQUEST', JSON.stringify(settings));
      assert.match(JSON.stringify(rest), said, JSON.stringify(settings));
    }
    assert.equal((await list('bad')).length, 2);
    assert.equal(await why(create('nobody')), 'OPERATION_NOT_FOUND');
  });

  it('changes what is given, moves what waits, and ends a pause that the old address has caused', async () => {
    const shop = await openMerchant(stage, 'moves', {});
    const { endpoint } = await create('moves', { description: 'Old', headers: { headers: { 'x-a': '1' } } });
    assert(endpoint);
    const { merchantId, endpointId } = endpoint;
    await shop.hold();
    const at = new Date(stage.clock.now());
    const key = { merchantId, endpointId: endpointId as `webhook-${string}` };
    await stage.database.transaction(async (query) => {
      await lockEndpoints(query, [key], at);
      await writeEndpoints(query, [{ ...FRESH, ...key, pause: 'GONE' }], at);
    });
    await sql(stage, `update delivery set due_at = $2 where merchant_id = $1`, [
      merchantId,
      new Date(at.getTime() + 3_600_000),
    ]);
    const { endpoint: renamed } = await endpoints.updateWebhookEndpoint({ merchantId, endpointId, description: 'New' });
    assert.deepEqual(
      [renamed?.description, renamed?.url, renamed?.headerNames, renamed?.pause],
      ['New', URL, ['x-a'], 1],
    );
    const url = 'https://new.example';
    const headers = { headers: {} };
    const { endpoint: moved } = await endpoints.updateWebhookEndpoint({ merchantId, endpointId, url, headers });
    assert.deepEqual([moved?.description, moved?.url, moved?.headerNames, moved?.pause], ['New', url, [], 0]);
    const [delivery] = (await notifications.listDeliveries({ merchantId, endpointId })).deliveries;
    assert.deepEqual(delivery?.dueAt?.seconds, BigInt(Math.floor(at.getTime() / 1_000)));
    await create('moves');
    assert.equal(await why(endpoints.updateWebhookEndpoint({ merchantId, endpointId, url: URL })), 'INVALID_REQUEST');
  });

  it('removes an endpoint, after which nothing is sent to it and the merchant has room', async () => {
    const shop = await openMerchant(stage, 'removes', {});
    const { endpoint } = await create('removes');
    assert(endpoint);
    const { merchantId, endpointId } = endpoint;
    await endpoints.deleteWebhookEndpoint({ merchantId, endpointId });
    const { requestId } = await shop.hold();
    assert.equal((await notifications.listDeliveries({ requestId })).deliveries.length, 0);
    assert.deepEqual(await list('removes'), []);
    for (const again of [
      () => endpoints.deleteWebhookEndpoint({ merchantId, endpointId }),
      () => endpoints.getWebhookEndpoint({ merchantId, endpointId }),
      () => endpoints.updateWebhookEndpoint({ merchantId, endpointId, url: URL }),
      () => notifications.sendTestNotification({ merchantId, endpointId }),
      () => notifications.pauseEndpoint({ merchantId, endpointId, endpointKind: 1 }),
      () => operator.merchants.addSigningSecret({ merchantId, endpointId }),
    ]) {
      assert.equal(await why(again()), 'OPERATION_NOT_FOUND');
    }
    const left =
      'select from endpoint_secret where merchant_id = $1 union all select from endpoint where merchant_id = $1';
    assert.equal((await sql(stage, left, [merchantId])).length, 0);
    await create('removes');
  });

  it('leaves the endpoints of the contract to the contract, and another merchant alone', async () => {
    await openMerchant(stage, 'kept', { webhookUrl: 'https://merchant.example', internalUrl: 'https://inner.example' });
    const merchantId = 'kept';
    for (const endpointId of ['default', 'internal']) {
      assert.equal(await why(endpoints.deleteWebhookEndpoint({ merchantId, endpointId })), 'INVALID_REQUEST');
      assert.equal(await why(endpoints.updateWebhookEndpoint({ merchantId, endpointId, url: URL })), 'INVALID_REQUEST');
    }
    for (const endpointId of ['webhook', 'x', 'webhook-1', "webhook-'"]) {
      assert.equal(await why(endpoints.deleteWebhookEndpoint({ merchantId, endpointId })), 'OPERATION_NOT_FOUND');
    }
    const { endpoint } = await create('kept');
    await openMerchant(stage, 'stranger', {});
    const theirs = { merchantId: 'stranger', endpointId: endpoint?.endpointId ?? '' };
    assert.equal(await why(endpoints.deleteWebhookEndpoint(theirs)), 'OPERATION_NOT_FOUND');
    assert.equal((await list('kept')).length, 3);
  });

  it('has at most two live secrets for each endpoint, and at least one', async () => {
    await openMerchant(stage, 'secrets', {});
    const [one, two] = [await create('secrets'), await create('secrets', { url: 'https://two.example' })];
    const merchantId = 'secrets';
    const endpointId = one.endpoint?.endpointId ?? '';
    const [first] = one.endpoint?.signingSecrets ?? [];
    const retire = (signingSecretId = '', of = endpointId) =>
      operator.merchants.retireSigningSecret({ merchantId, endpointId: of, signingSecretId });
    assert.equal(await why(retire(first?.signingSecretId)), 'INVALID_REQUEST');
    const added = await operator.merchants.addSigningSecret({ merchantId, endpointId });
    assert.match(added.secret, /^whsec_/);
    assert.equal(await why(operator.merchants.addSigningSecret({ merchantId, endpointId })), 'INVALID_REQUEST');
    assert.equal(await why(retire(first?.signingSecretId, two.endpoint?.endpointId)), 'OPERATION_NOT_FOUND');
    assert.equal(await why(retire(first?.signingSecretId, '')), 'OPERATION_NOT_FOUND');
    await retire(first?.signingSecretId);
    await retire(first?.signingSecretId);
    const { endpoint } = await endpoints.getWebhookEndpoint({ merchantId, endpointId });
    assert.deepEqual(
      endpoint?.signingSecrets.map(({ retiredAt }) => retiredAt === undefined),
      [false, true],
    );
    // The relay accepts what the merchant's own secrets sign, and only that.
    const { merchant } = await operator.merchants.getMerchant({ merchantId });
    assert.equal(merchant?.signingSecrets.length, 1);
  });
});
