import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { openChannel } from '../../platform/grpc-client.ts';
import { channelSecurity } from '../../platform/tls.ts';
import { WebhookEndpointService } from '../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { serveLocally } from '../local-server.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { KeyedShop } from './keyed-shop.ts';
import { until } from './until.ts';

const KILLS = 3;

/** What an endpoint received of one notification. */
interface Received {
  readonly webhookIds: Set<string>;
  readonly bodies: Set<string>;
}

describe('ten endpoints of a merchant, whose worker is killed', () => {
  let fleet: Fleet;
  let receiver: Awaited<ReturnType<typeof serveLocally>>;
  /** By endpoint, then by requestId. */
  const received = new Map<string, Map<string, Received>>();
  const secrets = new Map<string, string>();

  before(async () => {
    fleet = await openFleet();
    receiver = await serveLocally(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      const [, name = ''] = (request.url ?? '').split('/');
      new Webhook(secrets.get(name) ?? '').verify(body, request.headers as Record<string, string>);
      const { requestId } = JSON.parse(body);
      const all = received.get(name) ?? new Map<string, Received>();
      received.set(name, all);
      const one = all.get(requestId) ?? { webhookIds: new Set(), bodies: new Set() };
      all.set(requestId, one);
      one.webhookIds.add(String(request.headers['webhook-id']));
      one.bodies.add(body);
      // So that a kill meets attempts in progress.
      await delay(50);
      response.end();
    });
  });

  after(async () => {
    await fleet?.close();
    await receiver?.close();
  });

  it('get each notification at least once, under one webhook-id each, signed by their own secrets', async () => {
    const address = fleet.coreUrl;
    const channel = openChannel({
      address,
      token: fleet.secrets.operator,
      timeoutMs: 10_000,
      ...channelSecurity(undefined),
    });
    const endpoints = channel.client(WebhookEndpointService);
    for (let index = 0; index < 10; index++) {
      const request = { merchantId: 'acme', url: `${receiver.url}/e${index}` };
      const { signingSecret } = await endpoints.createWebhookEndpoint(request);
      secrets.set(`e${index}`, signingSecret);
    }
    channel.close();
    const shop = new KeyedShop(fleet);
    const [worker] = fleet.workers;
    assert(worker);
    for (let kill = 0; kill < KILLS; kill++) {
      const selling = Promise.all(Array.from({ length: 8 }, () => shop.sell()));
      await until('deliveries arrive', () => received.size > 0);
      await delay(100 * kill);
      await worker.kill();
      await selling;
      await worker.start();
    }
    assert.deepEqual(shop.tally.lost, []);
    const expected = shop.tally.holds + shop.tally.captures;
    assert.equal(expected, KILLS * 16);
    const complete = () => [...secrets.keys()].every((name) => received.get(name)?.size === expected);
    await until('each endpoint has each notification', complete);
    const all = [...received.values()].flatMap((of) => [...of.values()]);
    for (const { webhookIds, bodies } of all) assert.deepEqual([webhookIds.size, bodies.size], [1, 1]);
    assert.equal(new Set(all.flatMap(({ webhookIds }) => [...webhookIds])).size, expected * 10);
  });
});
