import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { verifyNotification } from '../../../../client/webhooks/signature.ts';
import { takeDue } from '../../../../services/core/storage/delivery/take-due.ts';
import { forSuite } from '../../../suite.ts';
import { ok, openDeliveryStage, openReceiver, type Received } from './stage.ts';

describe('Deliverer, further endpoints', () => {
  const stage = forSuite(openDeliveryStage);
  const deliverer = forSuite(() => stage.openDeliverer());
  const receiver = forSuite(openReceiver);
  let merchants = 0;

  beforeEach(async () => {
    await stage.sql('delete from delivery');
    receiver.received.length = 0;
    receiver.how.answer = ok;
    // Signatures of the present are what a receiver's library accepts.
    stage.time.now = Date.now();
  });

  const newMerchant = async () => {
    const merchantId = `further${++merchants}`;
    return { merchantId, secret: (await stage.addMerchant(merchantId, `${receiver.url}/default`)).secret };
  };

  const isSignedBy = (secret: string, { headers, body }: Received) => {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
    const fields = { ...JSON.parse(body), amount: '1050' };
    try {
      new Webhook(secret).verify(body, signed);
    } catch {
      return false;
    }
    return verifyNotification([secret], fields, headers['x-service-signature']);
  };

  it('sends to its address with its headers, signed by its own secret alone', async () => {
    const { merchantId, secret: ofMerchant } = await newMerchant();
    const headers = { authorization: 'Bearer of-their-gateway', 'x-shop': 'north' };
    const { endpointId, secret } = await stage.addEndpoint(merchantId, `${receiver.url}/books`, { headers });
    await stage.addDelivery(merchantId, { endpointId });
    await stage.addDelivery(merchantId);
    assert.equal(await deliverer.runOnce(), 2);
    const [books, first] = ['/books', '/default'].map((path) =>
      receiver.received.find((received) => received.path.startsWith(path)),
    );
    assert(books && first);
    assert.deepEqual([books.headers.authorization, books.headers['x-shop']], ['Bearer of-their-gateway', 'north']);
    assert.deepEqual([first.headers.authorization, first.headers['x-shop']], [undefined, undefined]);
    assert.deepEqual([isSignedBy(secret, books), isSignedBy(ofMerchant, books)], [true, false]);
    assert.deepEqual([isSignedBy(secret, first), isSignedBy(ofMerchant, first)], [false, true]);
  });

  it('hides its headers in what it echoes', async () => {
    const { merchantId } = await newMerchant();
    const headers = { authorization: 'Bearer ab-12', 'x-pin': 'four words with spaces' };
    const { endpointId } = await stage.addEndpoint(merchantId, receiver.url, { headers });
    receiver.how.answer = (response, received) =>
      response.end(`${received.headers.authorization}, ab-12, ${received.headers['x-pin']}`);
    const id = await stage.addDelivery(merchantId, { endpointId });
    await deliverer.runOnce();
    const [attempt] = await stage.attemptsOf(id);
    assert.equal(attempt?.responseHead, '(hidden), (hidden), (hidden)');
  });

  it('has a pause of its own', async () => {
    const { merchantId } = await newMerchant();
    const { endpointId } = await stage.addEndpoint(merchantId, `${receiver.url}/gone`);
    receiver.how.answer = (response, { path }) => response.writeHead(path.startsWith('/gone') ? 410 : 200).end();
    for (let count = 0; count < 2; count++) {
      await stage.addDelivery(merchantId, { endpointId });
      await stage.addDelivery(merchantId);
      await deliverer.runOnce();
    }
    assert.equal(receiver.received.filter(({ path }) => path.startsWith('/gone')).length, 1);
    assert.equal(receiver.received.filter(({ path }) => path.startsWith('/default')).length, 2);
    const states = await stage.sql('select kind, pause from endpoint where merchant_id = $1', [merchantId]);
    assert.deepEqual(states, [{ kind: endpointId, pause: 'GONE' }]);
  });

  it('waits as long as it may take, and holds the delivery 5 s longer', async () => {
    const { merchantId } = await newMerchant();
    const { endpointId } = await stage.addEndpoint(merchantId, receiver.url, { timeoutS: 30 });
    await stage.addDelivery(merchantId, { endpointId });
    await stage.addDelivery(merchantId);
    const wanted = (['webhook', endpointId] as const).map((each) => ({
      merchantId,
      endpointId: each,
      cap: 9,
      room: 9,
    }));
    assert.equal((await takeDue(stage.database.query, wanted, stage.clock())).length, 2);
    const [locks] = await stage.sql<{ seconds: number }>(
      'select extract(epoch from max(locked_until) - min(locked_until))::int as seconds from delivery',
    );
    assert.deepEqual(locks, { seconds: 35 - 15 });
  });

  it('ends a delivery as dead when its endpoint was removed, without a request', async () => {
    const { merchantId } = await newMerchant();
    const { endpointId } = await stage.addEndpoint(merchantId, receiver.url);
    const id = await stage.addDelivery(merchantId, { endpointId });
    await stage.sql('delete from webhook_endpoint where merchant_id = $1', [merchantId]);
    await deliverer.runOnce();
    assert.equal((await stage.deliveryOf(id)).state, 'DEAD');
    const [attempt] = await stage.attemptsOf(id);
    assert.deepEqual([attempt?.error, attempt?.url], ['the endpoint was removed', null]);
    assert.equal(receiver.received.length, 0);
    assert.deepEqual(await stage.sql('select from endpoint where merchant_id = $1', [merchantId]), []);
  });

  it('sends a test once, also to an internal endpoint, and a relayed notification of that name again', async () => {
    const { merchantId } = await newMerchant();
    const { endpointId } = await stage.addEndpoint(merchantId, receiver.url, { purpose: 'internal' });
    receiver.how.answer = (response) => response.writeHead(500).end();
    const test = await stage.addDelivery(merchantId, { endpointId, statusInfo: 'test' });
    const signature = `${'A'.repeat(43)}=`;
    const relayed = await stage.addDelivery(merchantId, { endpointId, statusInfo: 'test', signature });
    await deliverer.runOnce();
    assert.equal((await stage.deliveryOf(test)).state, 'DEAD');
    assert.equal((await stage.deliveryOf(relayed)).state, 'PENDING');
  });
});
