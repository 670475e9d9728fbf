import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { openChannel } from '../../platform/grpc-client.ts';
import { channelSecurity } from '../../platform/tls.ts';
import { WebhookEndpointService } from '../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { serveLocally } from '../local-server.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { KeyedShop } from './keyed-shop.ts';
import { until } from './until.ts';

const KILLS = 3;

/** Endpoints that fail, by the status that they answer. */
const SICK = { down1: 503, down2: 503, down3: 503, gone: 410 } as const;

describe('the owner of failing endpoints, whose worker is killed', () => {
  let fleet: Fleet;
  let receiver: Awaited<ReturnType<typeof serveLocally>>;
  const requests = new Map<string, number>();
  /** What was told, by its requestId. */
  const told = new Map<string, { readonly type: string; readonly endpointId: string; readonly ids: Set<string> }>();
  const secrets = new Map<string, string>();
  const ids = new Map<string, string>();

  before(async () => {
    fleet = await openFleet();
    receiver = await serveLocally(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      const [, name = ''] = (request.url ?? '').split('/');
      new Webhook(secrets.get(name) ?? '').verify(body, request.headers as Record<string, string>);
      requests.set(name, (requests.get(name) ?? 0) + 1);
      // So that a kill meets attempts in progress.
      await delay(20);
      if (name === 'alarms') {
        const { requestId, type, endpointId } = JSON.parse(body);
        const one = told.get(requestId) ?? { type, endpointId, ids: new Set() };
        one.ids.add(String(request.headers['webhook-id']));
        told.set(requestId, one);
      }
      response.writeHead(SICK[name as keyof typeof SICK] ?? 200).end();
    });
  });

  after(async () => {
    await fleet?.close();
    await receiver?.close();
  });

  it('is told of each endpoint once, whenever the worker dies', async () => {
    const { coreUrl: address, secrets: tokens } = fleet;
    const security = channelSecurity(undefined);
    const channel = openChannel({ address, token: tokens.operator, timeoutMs: 10_000, ...security });
    const endpoints = channel.client(WebhookEndpointService);
    for (const name of [...Object.keys(SICK), 'alarms']) {
      const types = name === 'alarms' ? { types: { types: ['endpoint.*'] } } : {};
      const request = { merchantId: 'acme', url: `${receiver.url}/${name}`, ...types };
      const { endpoint, signingSecret } = await endpoints.createWebhookEndpoint(request);
      secrets.set(name, signingSecret);
      ids.set(endpoint?.endpointId ?? '', name);
    }
    channel.close();
    const shop = new KeyedShop(fleet);
    const [worker] = fleet.workers;
    assert(worker);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = requests.get('down1') ?? 0;
      const selling = Promise.all(Array.from({ length: 8 }, () => shop.sell()));
      // The tenth failure opens the breaker: the kill comes before, while and after it is recorded.
      await until('deliveries fail', () => (requests.get('down1') ?? 0) > (kill === 0 ? 9 : before));
      await delay(15 * kill);
      await worker.kill();
      await selling;
      await worker.start();
    }
    assert.deepEqual(shop.tally.lost, []);
    await until('all is told', () => told.size === Object.keys(SICK).length);
    const said = [...told.values()].map(({ type, endpointId }) => `${ids.get(endpointId)} ${type}`).sort();
    assert.deepEqual(said, [
      ...['down1', 'down2', 'down3'].map((name) => `${name} endpoint.failing`),
      'gone endpoint.disabled',
    ]);
    for (const { ids: webhookIds } of told.values()) assert.equal(webhookIds.size, 1);
    const client = new pg.Client({ connectionString: fleet.databaseUrl });
    await client.connect();
    const { rows } = await client.query(`select count(*)::int as stored from delivery where kind = 'endpoint'`);
    await client.end();
    assert.deepEqual(rows, [{ stored: told.size }]);
  });
});
