import assert from 'node:assert/strict';
import {
  EndpointKind,
  EndpointPause,
  NotificationKind,
  NotificationService,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { WebhookEndpointService } from '../../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import {
  type EndpointState,
  FRESH,
  lockEndpoints,
  writeEndpoints,
} from '../../../../../services/core/storage/endpoint/endpoint-row.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

describe('NotificationService, the state of endpoints', () => {
  const stage = forSuite(openStage);
  const operator = forSuite(() => stage.channel('operator'));
  const endpoints = forSuite(() => operator.opened.client(WebhookEndpointService));
  const notifications = forSuite(() => operator.opened.client(NotificationService));

  const DEFAULT = (merchantId: string) => ({ merchantId, endpointKind: EndpointKind.WEBHOOK });

  const openAlarmed = async (merchantId: string) => {
    await openMerchant(stage, merchantId, { webhookUrl: 'https://merchant.example' });
    const types = { types: ['endpoint.*'] };
    const { endpoint } = await endpoints.createWebhookEndpoint({ merchantId, url: 'https://alarms.example', types });
    return { merchantId, endpointId: endpoint?.endpointId ?? '' };
  };

  const write = (merchantId: string, endpointId: 'webhook' | 'internal', state: Partial<EndpointState>) => {
    const at = new Date(stage.clock.now());
    const key = { merchantId, endpointId };
    return stage.database.transaction(async (query) => {
      await lockEndpoints(query, [key], at);
      await writeEndpoints(query, [{ ...FRESH, ...key, ...state }], at);
    });
  };

  it('tells the other endpoints once that an operator has paused one, until it works again', async () => {
    const alarms = await openAlarmed('paused');
    const key = DEFAULT('paused');
    const told = async () => (await notifications.listDeliveries(alarms)).deliveries;
    await notifications.pauseEndpoint(key);
    await notifications.pauseEndpoint(key);
    const [delivery, ...more] = await told();
    assert.deepEqual([delivery?.kind, delivery?.statusInfo, more], [NotificationKind.ENDPOINT, 'disabled', []]);
    const { content } = await notifications.getDelivery({ deliveryId: delivery?.deliveryId ?? '' });
    assert.equal(content?.url, 'https://alarms.example/webhook/processor/endpoint/disabled');
    const { type, endpointId, pause } = JSON.parse(content?.body ?? '');
    assert.deepEqual([type, endpointId, pause], ['endpoint.disabled', 'default', 'OPERATOR']);
    await notifications.resumeEndpoint(key);
    await notifications.pauseEndpoint(key);
    assert.equal((await told()).length, 1);
    await write('paused', 'webhook', FRESH);
    await notifications.pauseEndpoint(key);
    assert.equal((await told()).length, 2);
  });

  it('pauses the endpoint that would be told, and tells nobody', async () => {
    const alarms = await openAlarmed('alone');
    await notifications.pauseEndpoint({ ...alarms, endpointKind: EndpointKind.WEBHOOK });
    assert.deepEqual((await notifications.listDeliveries({ merchantId: 'alone' })).deliveries, []);
    await endpoints.deleteWebhookEndpoint(alarms);
    await notifications.pauseEndpoint(DEFAULT('alone'));
    assert.deepEqual((await notifications.listDeliveries({ merchantId: 'alone' })).deliveries, []);
  });

  it('lists the endpoint that has failed longest first, with its backlog, page by page', async () => {
    await sql(stage, 'delete from endpoint', []);
    const shop = await openMerchant(stage, 'worst', { webhookUrl: 'https://merchant.example', notifyHolds: true });
    for (let hold = 0; hold < 3; hold++) await shop.hold();
    await sql(
      stage,
      `update delivery set state = 'DEAD', due_at = null where id = (select id from delivery where merchant_id = 'worst' limit 1)`,
      [],
    );
    const since = (day: number) => new Date(Date.UTC(2026, 0, day));
    await openMerchant(stage, 'recent', {});
    await write('worst', 'webhook', { failureCount: 3, failingSince: since(1), lastError: 'HTTP 503' });
    await write('worst', 'internal', { pause: 'OPERATOR' });
    await write('recent', 'webhook', { refusedCount: 1, failingSince: since(2), lastError: 'HTTP 404' });
    await write('recent', 'internal', { told: ['delivery.dead'] });
    const shown: unknown[] = [];
    let pageToken = '';
    do {
      const page = await notifications.listEndpoints({ pageSize: 1, pageToken });
      pageToken = page.nextPageToken;
      for (const { merchantId, endpointId, lastError, waitingCount, deadCount, pause } of page.endpoints) {
        shown.push([merchantId, endpointId, lastError, waitingCount, deadCount, EndpointPause[pause]]);
      }
    } while (pageToken !== '');
    assert.deepEqual(shown, [
      ['worst', 'default', 'HTTP 503', 2, 1, 'UNSPECIFIED'],
      ['recent', 'default', 'HTTP 404', 0, 0, 'UNSPECIFIED'],
      ['worst', 'internal', '', 0, 0, 'OPERATOR'],
    ]);
    assert.equal(await why(notifications.listEndpoints({ pageToken: 'WyJ4Iiwie30iXQ' })), 'INVALID_REQUEST');
  });
});
