/** What an attempt resolves, sends and keeps of the answer. */
import assert from 'node:assert/strict';
import { verifyStandardWebhook } from '../../../../client/webhooks/signature.ts';
import { openResolver } from '../../../../services/core/egress/resolve.ts';
import { acceptNotifications } from '../../../../services/core/storage/notification/insert-accepted.ts';
import { forSuite } from '../../../suite.ts';
import { openNameServer } from '../egress/name-server.ts';
import { bodyOf, ok, openDeliveryStage, openReceiver, storedNotification } from './stage.ts';

describe('makeAttempt()', () => {
  let merchants = 0;
  const stage = forSuite(openDeliveryStage);
  const deliverer = forSuite(() => stage.openDeliverer());
  const receiver = forSuite(openReceiver);

  beforeEach(() => {
    receiver.received.length = 0;
    receiver.how.answer = ok;
  });

  const newMerchant = async (url: string = receiver.url) => {
    const id = `m${++merchants}`;
    const { secret } = await stage.addMerchant(id, url);
    return { id, secret };
  };
  const deliver = async () => {
    stage.time.now += 3_000;
    await deliverer.runOnce();
  };

  it('attempts a test once, at the address that the merchant has now', async () => {
    const { id: merchantId } = await newMerchant('http://127.0.0.1:9');
    const first = await stage.addDelivery(merchantId, { statusInfo: 'test' });
    await deliver();
    assert.deepEqual([(await stage.deliveryOf(first)).state, receiver.received.length], ['DEAD', 0]);
    await stage.sql('update merchant set webhook_url = $2 where id = $1', [merchantId, receiver.url]);
    const second = await stage.addDelivery(merchantId, { statusInfo: 'test' });
    await deliverer.runOnce();
    assert.equal((await stage.deliveryOf(second)).state, 'DELIVERED');
    const [[before], [after]] = [await stage.attemptsOf(first), await stage.attemptsOf(second)];
    assert.deepEqual(
      [before?.url, before?.fault, after?.url, after?.fault],
      [
        'http://127.0.0.1:9/webhook/processor/payment/test',
        'UNREACHABLE',
        `${receiver.url}/webhook/processor/payment/test`,
        null,
      ],
    );
  });

  it("forwards another sender's bytes with its headers, under that sender's path", async () => {
    const { id: merchantId, secret } = await newMerchant();
    await stage.sql('update merchant set internal_url = $2 where id = $1', [merchantId, receiver.url]);
    const senderId = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
    const relayedHeaders = { 'content-type': 'text/plain', 'x-relay-sender': senderId, 'x-github-event': 'ping' };
    const change = {
      merchantId,
      kind: 'relay' as const,
      statusInfo: senderId,
      signature: '',
      identifier: 'a',
      digest: 'a',
      relayedHeaders,
    };
    await acceptNotifications(stage.database.query, [
      storedNotification('relayed', { ...change, body: Buffer.from('no JSON') }),
    ]);
    await deliver();
    const [{ path, headers, body } = assert.fail()] = receiver.received;
    assert.deepEqual([path, body], [`/webhook/relay/${senderId}`, 'no JSON']);
    for (const [name, value] of Object.entries(relayedHeaders)) assert.equal(headers[name], value);
    assert.equal(headers['x-service-signature'], undefined);
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((part) => headers[`webhook-${part}`]);
    assert(verifyStandardWebhook([secret], { id, timestamp, signature }, body, Number(timestamp)));
  });

  it('delivers to others while name servers are silent, and does not blame the endpoint for that', async () => {
    const server = await openNameServer({ 'good.test': '127.0.0.1' });
    const { port } = new URL(receiver.url);
    const quick = stage.openDeliverer({ resolve: openResolver({ servers: server.servers }) });
    const [{ id: slow }, { id: good }] = [
      await newMerchant('http://x.silent.test:9'),
      await newMerchant(`http://good.test:${port}`),
    ];
    const waiting: string[] = [];
    for (let count = 0; count < 20; count++) waiting.push(await stage.addDelivery(slow));
    const healthy = await stage.addDelivery(good);
    const delivered = new Promise<void>((resolve) => {
      receiver.how.answer = (response) => {
        ok(response);
        resolve();
      };
    });
    const running = quick.runOnce();
    await delivered;
    assert.equal((await stage.attemptsOf(waiting[0] ?? '')).length, 0, 'nothing was given up before');
    await running;
    assert.equal((await stage.deliveryOf(healthy)).state, 'DELIVERED');
    assert.deepEqual(
      server.asked.filter((name) => name === 'x.silent.test').length <= 4,
      true,
      'one lookup of each family, tried twice',
    );
    assert.equal((await stage.attemptsOf(waiting[0] ?? ''))[0]?.fault, 'LOOKUP');
    const troubled = await stage.sql('select from endpoint where merchant_id = $1 and failure_count > 0', [slow]);
    assert.equal(troubled.length, 0);
    await server.close();
  });

  it('stores what an endpoint echoes without signatures, tokens and card numbers', async () => {
    const { id: merchantId, secret } = await newMerchant();
    const tokenId = 'k7/x+secret';
    const body = JSON.stringify({ ...JSON.parse(bodyOf(merchantId, 'r')), tokenData: { tokenId } });
    const id = await stage.addDelivery(merchantId, { body });
    receiver.how.answer = (response, { headers, body: sent }) => {
      const echo = {
        path: '/usr/src/app/index.js',
        id: headers['webhook-id'],
        headers,
        sent,
        card: '4242 4242-4242 4242',
      };
      const php = JSON.stringify({ signature: headers['x-service-signature'], secret }).replaceAll('/', '\\/');
      response.end(`${php}${encodeURIComponent(`${headers['x-service-signature']}`)}${JSON.stringify(echo)}`);
    };
    await deliver();
    const head = (await stage.attemptsOf(id))[0]?.responseHead ?? '';
    const received = receiver.received[0]?.headers ?? {};
    const signatures = `${received['x-service-signature']} ${received['webhook-signature']}`
      .replaceAll('v1,', '')
      .split(' ');
    for (const each of [...signatures, secret, tokenId, '4242 4242-4242 4242']) {
      for (const spelled of [each, each.replaceAll('/', '\\/'), encodeURIComponent(each)])
        assert(!head.includes(spelled), head);
    }
    assert(head.includes('/usr/src/app/index.js') && head.includes(id), head);
  });

  it('hides a token that begins like another secret value', async () => {
    const { id: merchantId } = await newMerchant();
    const tokenData = { brand: 'visa', token: 'visa-9f3k' };
    const id = await stage.addDelivery(merchantId, {
      body: JSON.stringify({ ...JSON.parse(bodyOf(merchantId, 'r')), tokenData }),
    });
    receiver.how.answer = (response) => response.end('unknown token visa-9f3k');
    await deliver();
    assert.equal((await stage.attemptsOf(id))[0]?.responseHead, 'unknown token (hidden)');
  });

  it('stores nothing of an answer in which very many secrets would have to be searched for', async () => {
    const { id: merchantId } = await newMerchant();
    const tokenData = Array.from({ length: 1_900 }, (_, index) => `${'a'.repeat(20)}${index}`);
    const id = await stage.addDelivery(merchantId, {
      body: JSON.stringify({ ...JSON.parse(bodyOf(merchantId, 'r')), tokenData }),
    });
    receiver.how.answer = (response) => response.end('a'.repeat(8_000));
    await deliver();
    assert.equal((await stage.attemptsOf(id))[0]?.responseHead, '(hidden)');
  });

  it('stores an answer whose text is cut within a surrogate pair', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    receiver.how.answer = (response) => response.end(`${'x'.repeat(1_023)}\u{1F600}`);
    await deliver();
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
    assert.equal((await stage.attemptsOf(id))[0]?.responseHead, `${'x'.repeat(1_023)}\u{FFFD}`);
  });

  it('stores an answer to a notification whose token has half a surrogate pair', async () => {
    const { id: merchantId } = await newMerchant();
    const body = JSON.stringify({ ...JSON.parse(bodyOf(merchantId, 'r')), tokenData: { tokenId: '\u{D800}token' } });
    const id = await stage.addDelivery(merchantId, { body });
    receiver.how.answer = (response) => response.end('thanks');
    await deliver();
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
  });

  it('stores no more of an echo when what replaces a secret looks like another secret', async () => {
    const { id: merchantId } = await newMerchant();
    const tokenData = 'aaaa (hid den) hidd ((hi dden )(hi idde dden) (hidd hidde en)n) d(hi en)d idden'.split(' ');
    const body = JSON.stringify({ ...JSON.parse(bodyOf(merchantId, 'r')), tokenData });
    const id = await stage.addDelivery(merchantId, { body });
    receiver.how.answer = (response) => response.end('aaaa!'.repeat(1_000));
    await deliver();
    assert.equal((await stage.attemptsOf(id))[0]?.responseHead, '(hidden)!'.repeat(114).slice(0, 1_024));
  });
});
