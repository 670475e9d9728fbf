import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { verifyNotification, verifyStandardWebhook } from '../../../../client/webhooks/signature.ts';
import { openLog } from '../../../../platform/log.ts';
import { forSuite } from '../../../suite.ts';
import { bodyOf, ok, openDeliveryStage, openReceiver } from '../delivery/stage.ts';

describe('Deliverer', () => {
  let merchants = 0;
  const stage = forSuite(openDeliveryStage);
  const deliverer = forSuite(() => stage.openDeliverer());
  const hasty = forSuite(() => stage.openDeliverer({ timeoutMs: 1_500 }));
  const receiver = forSuite(openReceiver);

  beforeEach(() => {
    receiver.received.length = 0;
    receiver.how.answer = ok;
  });

  afterEach(async () => {
    await stage.sql('delete from delivery');
  });

  /** Each test has a merchant of its own, so that one endpoint's failures do not affect the next. */
  const newMerchant = async (url: string | null = receiver.url) => {
    const id = `m${++merchants}`;
    const { secret } = await stage.addMerchant(id, url);
    return { id, secret };
  };

  const deliver = (afterMs = 3_000) => {
    stage.time.now += afterMs;
    return deliverer.runOnce();
  };

  const answering = (status: number, headers: Record<string, string> = {}, body = 'no') => {
    receiver.how.answer = (response: ServerResponse) => response.writeHead(status, headers).end(body);
  };

  it('delivers the exact bytes with both signatures, to the address made of kind and statusInfo', async () => {
    const { id: merchantId, secret } = await newMerchant(`${receiver.url}/hooks/`);
    const body =
      '{ "amount":10.50 ' +
      `,"merchantId":"${merchantId}","requestId":"r-1","status":"OK","currency":"EUR","nested":{"amount":1}}`;
    const id = await stage.addDelivery(merchantId, { body, statusInfo: 'captured' });
    await deliver();
    const [received] = receiver.received;
    assert(received);
    assert.equal(received.path, '/hooks/webhook/processor/payment/captured');
    assert.equal(received.body, body);
    assert.equal(received.headers['content-type'], 'application/json');
    const fields = { merchantId, requestId: 'r-1', status: 'OK', amount: '10.50', currency: 'EUR' };
    assert(verifyNotification([secret], fields, received.headers['x-service-signature']));
    const headers = {
      id: received.headers['webhook-id'],
      timestamp: received.headers['webhook-timestamp'],
      signature: received.headers['webhook-signature'],
    };
    assert.equal(headers.id, id);
    assert(verifyStandardWebhook([secret], headers, body, stage.time.now / 1_000));
    assert.equal(received.headers['x-relay-signed-fields'], undefined);
    const row = await stage.deliveryOf(id);
    assert.deepEqual([row.state, row.attemptCount, row.dueAt], ['DELIVERED', 1, null]);
    const url = `${receiver.url}/hooks/webhook/processor/payment/captured`;
    assert.deepEqual(await stage.attemptsOf(id), [
      { number: 1, httpStatus: 200, error: null, fault: null, url, responseHead: 'thanks' },
    ]);
    assert.equal(await deliver(), 0);
  });

  it('signs with the older of two secrets, and with both for Standard Webhooks', async () => {
    const { id: merchantId, secret: older } = await newMerchant();
    const [first] = await stage.sql<{ id: string }>('select id from signing_secret where merchant_id = $1', [
      merchantId,
    ]);
    const { secret: newer } = await stage.addSecret(merchantId, new Date(stage.time.now + 1));
    const check = (secret: string) => {
      const received = receiver.received.at(-1);
      assert(received);
      const fields = { ...JSON.parse(received.body), amount: '1050' };
      const headers = {
        id: received.headers['webhook-id'],
        timestamp: received.headers['webhook-timestamp'],
        signature: received.headers['webhook-signature'],
      };
      return [
        verifyNotification([secret], fields, received.headers['x-service-signature']),
        verifyStandardWebhook([secret], headers, received.body, stage.time.now / 1_000),
      ];
    };
    await stage.addDelivery(merchantId);
    await deliver();
    assert.deepEqual(
      [check(older), check(newer)],
      [
        [true, true],
        [false, true],
      ],
    );
    await stage.sql('update signing_secret set retired_at = now() where id = $1', [first?.id]);
    await stage.addDelivery(merchantId);
    await deliver();
    assert.deepEqual(
      [check(older), check(newer)],
      [
        [false, false],
        [true, true],
      ],
    );
  });

  it('forwards a relayed notification with the signature of its sender', async () => {
    const { id: merchantId } = await newMerchant();
    const signature = `${'A'.repeat(43)}=`;
    await stage.addDelivery(merchantId, { endpointId: 'internal', signature, body: '{"any":"thing"}' });
    await deliver();
    const [received] = receiver.received;
    assert.equal(received?.headers['x-service-signature'], signature);
    assert.equal(received?.headers['x-relay-signed-fields'], 'merchantId,requestId,status,amount,currency');
    assert.equal(received?.body, '{"any":"thing"}');
  });

  it('retries by the schedule until the delivery is dead, and records every attempt', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    answering(404);
    const pausesS: number[] = [];
    for (let number = 1; number <= 10; number++) {
      const { dueAt } = await stage.deliveryOf(id);
      stage.time.now = Math.max(stage.time.now, (dueAt as Date).getTime());
      await deliver();
      const row = await stage.deliveryOf(id);
      assert.equal(row.attemptCount, number);
      const [pause] = await stage.sql<{ pauseS: number }>(
        `select extract(epoch from d.due_at - a.started_at - a.latency_ms * interval '1 ms')::float8 as pause_s
        from delivery d join delivery_attempt a on a.delivery_id = d.id and a.number = d.attempt_count
        where d.id = $1 and d.due_at is not null`,
        [id],
      );
      if (pause) pausesS.push(pause.pauseS);
    }
    assert.deepEqual(pausesS, [2, 10, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400]);
    assert.equal((await stage.deliveryOf(id)).state, 'DEAD');
    const attempts = await stage.attemptsOf(id);
    const { number, httpStatus, error, responseHead } = attempts.at(-1) ?? {};
    assert.deepEqual([number, httpStatus, error, responseHead], [10, 404, 'HTTP 404', 'no']);
    const health = 'select pause, refused_count from endpoint where merchant_id = $1';
    assert.deepEqual(await stage.sql(health, [merchantId]), [{ pause: null, refusedCount: 10 }]);
    assert.equal(await deliver(1_000_000), 0);
  });

  it('does not attempt what is not due', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    answering(500);
    await deliver();
    stage.time.now += 500;
    assert.equal(await deliver(0), 0);
    assert.equal((await stage.deliveryOf(id)).attemptCount, 1);
  });

  it('waits as long as a busy endpoint requests', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    answering(503, { 'retry-after': '120' });
    await deliver();
    const { dueAt } = await stage.deliveryOf(id);
    assert.equal(Math.round(((dueAt as Date).getTime() - stage.time.now) / 1_000), 120);
  });

  it('follows no redirect', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    answering(302, { location: `${receiver.url}/elsewhere` });
    await deliver();
    assert.equal(receiver.received.length, 1);
    assert.equal((await stage.attemptsOf(id))[0]?.error, 'HTTP 302');
  });

  it('stops reading an answer that does not end, however it trickles', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    let trickle: NodeJS.Timeout | undefined;
    receiver.how.answer = (response) => {
      response.writeHead(200);
      trickle = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(trickle));
    };
    stage.time.now += 3_000;
    await hasty.runOnce();
    const [attempt] = await stage.attemptsOf(id);
    assert.equal(attempt?.httpStatus, 200);
    // It was taken once its head was read.
    assert.equal(attempt?.error, null);
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
  });

  it('reads no more of an answer than necessary, and stores its beginning as text', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    const closed = Promise.withResolvers<boolean>();
    // Larger than the socket buffers.
    const long = Buffer.alloc(20_000_000, 'y');
    receiver.how.answer = (response) => {
      response.on('close', () => closed.resolve(response.writableFinished));
      response.write(`a\0b\x1b[31m${'x '.repeat(2_000)}`);
      response.end(long);
    };
    await deliver();
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
    const [attempt] = await stage.attemptsOf(id);
    assert.equal(attempt?.responseHead?.length, 1_024);
    assert.match(attempt?.responseHead ?? '', /^a\u{FFFD}b\u{FFFD}\[31mx x/u);
    assert.equal(await closed.promise, false, 'the rest is never read');
  });

  it('marks as dead only the delivery that cannot be sent', async () => {
    const { id: merchantId } = await newMerchant();
    const broken = await stage.addDelivery(merchantId, { body: 'not JSON, with 4111 in it' });
    const good = await stage.addDelivery(merchantId);
    await deliver();
    assert.equal((await stage.deliveryOf(good)).state, 'DELIVERED');
    assert.equal((await stage.deliveryOf(broken)).state, 'DEAD');
    assert.doesNotMatch((await stage.attemptsOf(broken))[0]?.error ?? '', /4111/);
  });

  it('keeps retrying for a merchant without address or secret', async () => {
    const { id: merchantId } = await newMerchant(null);
    const id = await stage.addDelivery(merchantId);
    await deliver();
    assert.equal((await stage.attemptsOf(id))[0]?.error, 'the merchant has no such endpoint');
    await stage.sql('update merchant set webhook_url = $2 where id = $1', [merchantId, receiver.url]);
    await deliver();
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
  });

  it('delivers to others while the secret of a merchant cannot be decrypted', async () => {
    const [locked, other] = [await newMerchant(), await newMerchant()];
    const [waiting, delivered] = [await stage.addDelivery(locked.id), await stage.addDelivery(other.id)];
    const turn = 'update signing_secret set ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1)';
    await stage.sql(`${turn} where merchant_id = $1`, [locked.id]);
    await deliver();
    assert.equal((await stage.deliveryOf(delivered)).state, 'DELIVERED');
    const { state, attemptCount } = await stage.deliveryOf(waiting);
    assert.deepEqual([state, attemptCount], ['PENDING', 0], 'no attempt was used up');
    await stage.sql(`${turn} where merchant_id = $1`, [locked.id]);
    await stage.sql('update delivery set locked_until = now() where id = $1', [waiting]);
    await deliver();
    assert.equal((await stage.deliveryOf(waiting)).state, 'DELIVERED');
  });

  it('pauses an endpoint that answers 410, until an operator resumes it', async () => {
    const { id: merchantId } = await newMerchant();
    const first = await stage.addDelivery(merchantId);
    answering(410);
    await deliver();
    const second = await stage.addDelivery(merchantId);
    answering(200);
    await deliver();
    assert.equal(await deliver(86_400_000), 0, 'nothing is taken while the endpoint is paused');
    assert.deepEqual(
      [(await stage.deliveryOf(first)).state, (await stage.deliveryOf(second)).attemptCount],
      ['PENDING', 0],
    );
    await stage.sql('update endpoint set pause = null where merchant_id = $1', [merchantId]);
    assert.equal(await deliver(), 2);
    assert.deepEqual(
      [(await stage.deliveryOf(first)).state, (await stage.deliveryOf(second)).state],
      ['DELIVERED', 'DELIVERED'],
    );
  });

  it('does not pause a new address because the old one answers 410 to an attempt in progress', async () => {
    const { id: merchantId } = await newMerchant(`${receiver.url}/old`);
    const id = await stage.addDelivery(merchantId);
    receiver.how.answer = async (response) => {
      await stage.sql('update merchant set webhook_url = $2 where id = $1', [merchantId, `${receiver.url}/new`]);
      response.writeHead(410).end();
    };
    await deliver();
    receiver.how.answer = ok;
    await deliver();
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
  });

  it('opens the breaker after ten failures, probes with one delivery, and resumes after a success', async () => {
    const { id: merchantId } = await newMerchant();
    const ids: string[] = [];
    for (let index = 0; index < 30; index++) ids.push(await stage.addDelivery(merchantId));
    answering(500);
    stage.time.now += 3_000;
    const lines: string[] = [];
    const log = openLog('test', 'warn', { destination: { write: (line) => void lines.push(line) } });
    await stage.openDeliverer({ endpointSlots: 10, log }).runOnce();
    assert.equal(receiver.received.length, 10);
    const paused = lines.map((line) => JSON.parse(line)).find(({ event }) => event === 'endpoint_paused');
    assert.deepEqual([paused?.pause, paused?.merchantId, paused?.count], ['BREAKER', merchantId, 10]);
    const [endpoint] = await stage.sql<{ pause: string; pausedUntil: Date }>(
      'select pause, paused_until from endpoint where merchant_id = $1',
      [merchantId],
    );
    assert.equal(endpoint?.pause, 'BREAKER');
    assert.equal(await deliver(5_000), 0, 'nothing is sent during the pause');
    assert.equal(await deliver(6_000), 1, 'one probe');
    answering(200);
    assert.equal(await deliver(21_000), 1, 'one probe after a longer pause');
    assert.equal(await deliver(), 29);
    assert.equal(receiver.received.length, 41);
    for (const id of ids) assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
  });

  it('aborts unfinished attempts when it stops, and leaves them to another worker', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    const arrived = Promise.withResolvers<void>();
    receiver.how.answer = () => arrived.resolve();
    stage.time.now += 3_000;
    const stopping = stage.openDeliverer({ graceMs: 20 });
    stopping.start(stage.url);
    await arrived.promise;
    await stopping.close();
    assert.equal((await stage.deliveryOf(id)).attemptCount, 0, 'an attempt that we aborted does not count');
    receiver.how.answer = ok;
    assert.equal(await deliverer.runOnce(), 1);
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
  });

  it('records an attempt once, even when two workers made it', async () => {
    const { id: merchantId } = await newMerchant();
    const id = await stage.addDelivery(merchantId);
    const other = stage.openDeliverer();
    receiver.how.answer = async (response, received) => {
      if (receiver.received.length === 1) {
        await stage.sql("update delivery set locked_until = now() - interval '1 s' where id = $1", [id]);
        assert.equal(await other.runOnce(), 1);
      }
      ok(response);
      assert.equal(received.body, bodyOf(merchantId, id));
    };
    await deliver();
    assert.equal(receiver.received.length, 2);
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    assert.equal(ids.size, 1);
    assert.equal((await stage.attemptsOf(id)).length, 1);
  });
});
