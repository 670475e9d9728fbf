import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { verifyNotification } from '../../../../client/webhooks/signature.ts';
import type { EndpointId } from '../../../../services/core/storage/delivery/delivery-row.ts';
import { forSuite } from '../../../suite.ts';
import { ok, openDeliveryStage, openReceiver, type Received } from './stage.ts';

const DAY_MS = 86_400_000;

describe('Deliverer, notifications to the owner', () => {
  const stage = forSuite(openDeliveryStage);
  const deliverer = forSuite(() => stage.openDeliverer());
  const receiver = forSuite(openReceiver);
  let merchants = 0;
  /** The answer of each path's first segment; absent = 200. */
  const statuses = new Map<string, number>();

  beforeEach(async () => {
    await stage.sql('delete from delivery');
    await stage.sql('delete from endpoint');
    receiver.received.length = 0;
    statuses.clear();
    receiver.how.answer = (response, { path }) => {
      const status = statuses.get(path.split('/')[1] ?? '');
      if (status === undefined) ok(response);
      else response.writeHead(status).end();
    };
    stage.time.now = Date.now();
  });

  /** A merchant with the endpoint `default`, another for payments, and one that is told. */
  const openShop = async () => {
    const merchantId = `shop${++merchants}`;
    await stage.addMerchant(merchantId, `${receiver.url}/default`);
    const { endpointId: books } = await stage.addEndpoint(merchantId, `${receiver.url}/books`);
    const alarms = await stage.addEndpoint(merchantId, `${receiver.url}/alarms`, { types: ['endpoint.*'] });
    return { merchantId, books, alarms: alarms.endpointId, secret: alarms.secret };
  };

  /** Makes `count` deliveries to an endpoint, and the attempts that are due. */
  const attempt = async (merchantId: string, endpointId: EndpointId = 'webhook', count = 10) => {
    for (let made = 0; made < count; made++) await stage.addDelivery(merchantId, { endpointId });
    await deliverer.runOnce();
  };

  /** Types and subjects of what was told, by the endpoint that got it. */
  const toldOf = async (merchantId: string) => {
    const rows = await stage.sql<{ endpointId: string; body: Buffer }>(
      `select endpoint_kind as endpoint_id, body from delivery
        where merchant_id = $1 and kind in ('endpoint', 'delivery', 'signing_secret') order by created_at, id`,
      [merchantId],
    );
    return rows.map(({ endpointId, body }) => ({ to: endpointId, ...JSON.parse(body.toString()) }));
  };

  const arrived = (): Received[] => receiver.received.filter(({ path }) => path.startsWith('/alarms/'));

  it('tells the first pause of an endpoint once, to the others that ask for it, signed by their secrets', async () => {
    const { merchantId, alarms, secret } = await openShop();
    statuses.set('default', 503);
    await attempt(merchantId);
    const [told, ...more] = await toldOf(merchantId);
    assert.deepEqual(more, []);
    const { requestId, finalStateDate, failingSince, pausedUntil, ...said } = told;
    assert.deepEqual(said, {
      to: alarms,
      merchantId,
      status: 'KO',
      amount: 0,
      currency: 'EUR',
      type: 'endpoint.failing',
      endpointId: 'default',
      pause: 'BREAKER',
    });
    assert.deepEqual([finalStateDate, failingSince], [stage.clock().toISOString(), stage.clock().toISOString()]);
    assert.equal(Date.parse(pausedUntil), stage.time.now + 10_000);
    await deliverer.runOnce();
    const [received] = arrived();
    assert(received);
    assert.equal(received.path, '/alarms/webhook/processor/endpoint/failing');
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    new Webhook(secret).verify(
      received.body,
      Object.fromEntries(names.map((name) => [name, String(received.headers[name])])),
    );
    const fields = { ...JSON.parse(received.body), amount: '0' };
    assert.equal(verifyNotification([secret], fields, received.headers['x-service-signature']), true);
    for (let probe = 0; probe < 3; probe++) {
      stage.time.now += 15 * 60_000;
      await deliverer.runOnce();
    }
    assert.equal((await toldOf(merchantId)).length, 1);
    assert.equal(requestId, JSON.parse(received.body).requestId);
  });

  it('tells again once the endpoint has worked and fails again', async () => {
    const { merchantId } = await openShop();
    const types: string[] = [];
    for (const status of [503, 200, 503]) {
      statuses.set('default', status);
      await attempt(merchantId);
      stage.time.now += 60_000;
      await deliverer.runOnce();
      types.push(...(await toldOf(merchantId)).slice(types.length).map(({ type }) => type));
    }
    assert.deepEqual(types, ['endpoint.failing', 'endpoint.failing']);
    assert.deepEqual(await stage.sql('select told from endpoint where pause is not null'), [
      { told: ['endpoint.failing'] },
    ]);
  });

  it('tells of an endpoint that answers 410 that it is disabled', async () => {
    const { merchantId, books, alarms } = await openShop();
    statuses.set('books', 410);
    await attempt(merchantId, books, 2);
    const told = await toldOf(merchantId);
    assert.deepEqual(
      told.map(({ to, type, endpointId, pause }) => [to, type, endpointId, pause]),
      [[alarms, 'endpoint.disabled', books, 'GONE']],
    );
  });

  it('tells of the first dead delivery, and not of a test', async () => {
    const { merchantId } = await openShop();
    statuses.set('default', 404);
    await stage.addDelivery(merchantId, { statusInfo: 'test' });
    const ids = [await stage.addDelivery(merchantId), await stage.addDelivery(merchantId)];
    for (let tries = 0; tries < 10; tries++) {
      assert.deepEqual(await toldOf(merchantId), []);
      await deliverer.runOnce();
      stage.time.now += DAY_MS * 2;
    }
    const [told, ...more] = await toldOf(merchantId);
    assert.deepEqual([told.type, told.endpointId, more], ['delivery.dead', 'default', []]);
    const { deliveryId, ...delivery } = told.delivery;
    assert.deepEqual(delivery, { requestId: deliveryId, type: 'payment.captured' });
    assert(ids.includes(deliveryId));
  });

  it('tells of a delivery that dies without the endpoint at fault', async () => {
    const { merchantId } = await openShop();
    await stage.addDelivery(merchantId, { body: 'no JSON' });
    await deliverer.runOnce();
    assert.deepEqual(
      (await toldOf(merchantId)).map(({ type }) => type),
      ['delivery.dead'],
    );
    await attempt(merchantId, 'webhook', 1);
    assert.deepEqual(await stage.sql('select told, failure_count from endpoint'), [{ told: null, failureCount: 0 }]);
  });

  it('tells nobody that did not ask by name, nor the failing endpoint, nor an internal one', async () => {
    const merchantId = `shop${++merchants}`;
    await stage.addMerchant(merchantId, `${receiver.url}/default`);
    await stage.addEndpoint(merchantId, `${receiver.url}/all`);
    await stage.addEndpoint(merchantId, `${receiver.url}/payments`, { types: ['payment.*', 'endpoint.disabled'] });
    await stage.addEndpoint(merchantId, `${receiver.url}/in`, { purpose: 'internal', types: ['endpoint.*'] });
    const { endpointId } = await stage.addEndpoint(merchantId, `${receiver.url}/self`, {
      types: ['endpoint.*', 'payment.*'],
    });
    statuses.set('self', 500);
    await attempt(merchantId, endpointId);
    assert.deepEqual(await toldOf(merchantId), []);
    assert.deepEqual(await stage.sql('select told from endpoint'), [{ told: ['endpoint.failing'] }]);
  });

  it('breaks nothing for a merchant with one endpoint, or with none', async () => {
    const merchantId = `shop${++merchants}`;
    await stage.addMerchant(merchantId, `${receiver.url}/default`);
    statuses.set('default', 500);
    await attempt(merchantId);
    assert.deepEqual(await toldOf(merchantId), []);
    assert.deepEqual(await stage.sql('select pause from endpoint'), [{ pause: 'BREAKER' }]);
  });

  it('makes no alarm about an alarm, neither when it dies nor when it pauses its endpoint', async () => {
    const { merchantId, alarms } = await openShop();
    await stage.addEndpoint(merchantId, `${receiver.url}/second`, { types: ['endpoint.*'] });
    const failing = { endpointId: alarms, kind: 'endpoint', statusInfo: 'failing' } as const;
    statuses.set('alarms', 404);
    const dying = await stage.addDelivery(merchantId, failing);
    for (let tries = 0; tries < 10; tries++) {
      await deliverer.runOnce();
      stage.time.now += DAY_MS * 2;
    }
    assert.equal((await stage.deliveryOf(dying)).state, 'DEAD');
    const pauses: (string | null)[] = [];
    for (const status of [500, 410]) {
      statuses.set('alarms', status);
      for (let made = 0; made < 10; made++) await stage.addDelivery(merchantId, failing);
      await deliverer.runOnce();
      stage.time.now += DAY_MS;
      const [state] = await stage.sql<{ pause: string | null }>('select pause from endpoint');
      pauses.push(state?.pause ?? null);
    }
    assert.deepEqual(pauses, ['BREAKER', 'GONE']);
    const told = (await toldOf(merchantId)).filter(({ to, type }) => to !== alarms && type);
    assert.deepEqual(told, []);
  });

  it('tells of an endpoint whose alarms have failed once something else fails there, too', async () => {
    const { merchantId } = await openShop();
    const { endpointId } = await stage.addEndpoint(merchantId, `${receiver.url}/both`, {
      types: ['endpoint.*', 'payment.*'],
    });
    statuses.set('both', 500);
    for (let made = 0; made < 10; made++) await stage.addDelivery(merchantId, { endpointId, kind: 'endpoint' });
    await deliverer.runOnce();
    assert.deepEqual(await toldOf(merchantId).then((told) => told.filter(({ type }) => type)), []);
    await stage.sql('delete from delivery');
    await stage.addDelivery(merchantId, { endpointId });
    stage.time.now += 60_000;
    await deliverer.runOnce();
    assert.deepEqual(
      (await toldOf(merchantId)).map(({ type }) => type),
      ['endpoint.failing'],
    );
  });

  it('tells once when two workers record at once', async () => {
    const { merchantId } = await openShop();
    const second = stage.openDeliverer();
    statuses.set('default', 500);
    for (let made = 0; made < 40; made++) await stage.addDelivery(merchantId);
    await Promise.all([deliverer.runOnce(), second.runOnce()]);
    assert.equal((await toldOf(merchantId)).length, 1);
  });

  it('stores neither the attempt nor what is told when the transaction fails', async () => {
    const { merchantId } = await openShop();
    statuses.set('default', 410);
    await stage.sql(`alter table delivery add constraint spoilt check (kind <> 'endpoint') not valid`);
    await attempt(merchantId, 'webhook', 1);
    await stage.sql('alter table delivery drop constraint spoilt');
    assert.deepEqual(await stage.sql('select from delivery_attempt where merchant_id = $1', [merchantId]), []);
    assert.deepEqual(await stage.sql('select from endpoint'), []);
    await stage.sql('update delivery set locked_until = null');
    await deliverer.runOnce();
    assert.deepEqual(
      (await toldOf(merchantId)).map(({ type }) => type),
      ['endpoint.disabled'],
    );
  });
});
