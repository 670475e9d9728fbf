import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { openLog } from '../../platform/log.ts';
import { readSettings } from '../../platform/settings.ts';
import { type Adapter, startAdapter } from '../../services/adyen/adapter.ts';
import { ADYEN_SETTINGS } from '../../services/adyen/settings.ts';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { openShop, type Shop } from '../../services/quickstart/shop.ts';
import { createDatabase, type TestDatabase } from '../database.ts';
import { notifyByItself } from '../services/adyen/fake/by-itself.ts';
import { type FakeAdyen, startFakeAdyen } from '../services/adyen/fake/fake-adyen.ts';
import { settingsOf } from '../services/adyen/fixture.ts';
import { type Fleet, openFleet } from './fleet.ts';

describe('core with an acquirer that only ever says "received"', () => {
  let fleet: Fleet;
  let adyen: FakeAdyen;
  let adapter: Adapter;
  let database: TestDatabase;
  let notifying: ReturnType<typeof notifyByItself>;
  let shop: Shop;

  before(async () => {
    const port = await freePort();
    [adyen, database] = await Promise.all([startFakeAdyen(), createDatabase()]);
    const others = { adyen: `127.0.0.1:${port}` };
    fleet = await openFleet({ sandboxes: ['sandbox'], others, environment: { LOG_LEVEL: 'warn' } });
    const settings = readSettings(ADYEN_SETTINGS, {
      ...settingsOf(database.url, adyen.origin, fleet.coreUrl),
      ADYEN_PORT: `${port}`,
      PROCESSOR_TOKEN: `${fleet.secrets.processor}1`,
      PROCESSOR_CREDENTIAL: `${fleet.secrets.credential}1`,
    });
    adapter = await startAdapter(settings, { log: openLog('adyen', 'silent') });
    const url = `http://127.0.0.1:${adapter.webhookPort}/webhook/adyen`;
    notifying = notifyByItself(adyen, url, { delayMs: 500, times: 3, shuffled: true });
    const contract = { currencies: ['EUR'], terminals: ['web'], processor: 'adyen', notifyHolds: true };
    const webhookUrl = fleet.receiverUrl;
    const { apiKey } = await asOperator(
      { coreUrl: fleet.coreUrl, operatorToken: fleet.secrets.operator },
      (merchants) =>
        merchants.createMerchant({ merchantId: 'hotel', name: 'Hotel', contract: { ...contract, webhookUrl } }),
    );
    shop = openShop({ baseUrl: fleet.origins[0] as string, demoMerchantUrl: fleet.receiverUrl, apiKey });
    // Core tried to reach the adapter before it was there, and waits before it tries again.
    for (let round = 0; round < 100 && (await askFor('stored_ok', 100)).status !== 201; round += 1) await delay(200);
  });
  after(async () => {
    notifying?.stop();
    await adapter?.close();
    await fleet?.close();
    await adyen?.close();
    await database?.drop();
  });

  const askFor = (tokenId: string, amount = 10_000) =>
    shop.post('/preauthorization', { tokenId, amount, currency: 'EUR', terminalId: 'web', userId: 'ann' });

  async function place(tokenId = 'stored_ok') {
    const { status, body } = await askFor(tokenId);
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  /** Asks until an operation has its result. */
  async function settled(requestId: string) {
    for (let round = 0; round < 200; round += 1) {
      const { status, body } = await shop.get(`/operations/${requestId}`);
      if (status === 200 && (body.status === 'OK' || body.status === 'KO')) return body;
      await delay(100);
    }
    return assert.fail(`${requestId} got no result`);
  }

  it('answers 202 to a capture, and books and notifies it once when Adyen does', async () => {
    const hold = await place();
    const capture = { preauthorizationId: hold.preauthorizationId, amountToCapture: 4_000, finalCapture: true };
    const { status, body } = await shop.post('/preauthorization/authorization', capture);
    assert.deepEqual([status, body.status], [202, 'IN_PROGRESS']);
    assert.equal((await settled(body.requestId)).status, 'OK');
    const { body: now } = await shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([now.status, now.amountCaptured, now.amountReleased], ['CAPTURED', 4_000, 6_000]);
    const about = () => fleet.received.filter(({ body: told }) => told.requestId === body.requestId);
    for (let round = 0; round < 100 && about().length === 0; round += 1) await delay(100);
    await delay(1_500);
    assert.deepEqual(
      about().map(({ path }) => path.split('/').at(-1)),
      ['captured'],
    );
  });

  it('refunds a capture when Adyen says so', async () => {
    const hold = await place();
    const capture = { preauthorizationId: hold.preauthorizationId, amountToCapture: 4_000, finalCapture: true };
    const { body } = await shop.post('/preauthorization/authorization', capture);
    await settled(body.requestId);
    const refund = await shop.post('/refund', { captureRequestId: body.requestId, amount: 1_000 });
    assert.deepEqual([refund.status, refund.body.status], [202, 'IN_PROGRESS']);
    assert.equal((await settled(refund.body.requestId)).status, 'OK');
    assert.equal((await shop.get(`/preauthorization/${hold.requestId}`)).body.amountRefunded, 1_000);
    const payments = [...adyen.payments.values()].filter(({ reference }) => reference === hold.requestId);
    assert.deepEqual(
      payments.map(({ captured, refunded }) => [captured, refunded]),
      [[4_000, 1_000]],
    );
  });

  it('adds to a hold, and lets it end later, when Adyen says so', async () => {
    const { preauthorizationId, requestId, expiresAt } = await place();
    const read = async () => (await shop.get(`/preauthorization/${requestId}`)).body;
    const more = { preauthorizationId, amountToAdd: 2_500 };
    const notify = notifying.hold();
    const increment = await shop.post('/preauthorization/increment', more);
    assert.deepEqual([increment.status, increment.body.status], [202, 'IN_PROGRESS']);
    const whole = { preauthorizationId, amountToCapture: 12_500 };
    assert.equal((await shop.post('/preauthorization/authorization', whole)).body.code, 'AMOUNT_EXCEEDS_HOLD');
    notify();
    assert.equal((await settled(increment.body.requestId)).status, 'OK');
    assert.equal((await read()).amount, 12_500);
    const extension = await shop.post('/preauthorization/extend', { preauthorizationId });
    assert.equal(extension.status, 202);
    assert.equal((await settled(extension.body.requestId)).status, 'OK');
    assert((await read()).expiresAt > expiresAt);
    const capture = await shop.post('/preauthorization/authorization', whole);
    assert.equal((await settled(capture.body.requestId)).status, 'OK');
    const payment = [...adyen.payments.values()].find(({ reference }) => reference === requestId);
    assert.deepEqual([payment?.authorised, payment?.captured], [12_500, 12_500]);
  });

  it('gives a part of a hold back when Adyen says so, and captures the rest', async () => {
    const { preauthorizationId, requestId } = await place();
    const part = { requestId, amountToRelease: 3_000 };
    const notify = notifying.hold();
    const release = await shop.post('/preauthorization/release', part);
    assert.deepEqual([release.status, release.body.status], [202, 'IN_PROGRESS']);
    const capture = (amountToCapture: number) =>
      shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture, finalCapture: true });
    assert.equal((await capture(7_000)).body.code, 'CAPTURE_IN_FLIGHT');
    notify();
    assert.equal((await settled(release.body.requestId)).statusInfo, 'partially_released');
    assert.equal((await capture(7_001)).body.code, 'AMOUNT_EXCEEDS_HOLD');
    assert.equal((await settled((await capture(6_000)).body.requestId)).status, 'OK');
    const { body: now } = await shop.get(`/preauthorization/${requestId}`);
    assert.deepEqual(
      [now.status, now.amount, now.amountCaptured, now.amountReleased],
      ['CAPTURED', 10_000, 6_000, 4_000],
    );
    const payment = [...adyen.payments.values()].find(({ reference }) => reference === requestId);
    assert.deepEqual([payment?.authorised, payment?.captured], [7_000, 6_000]);
  });

  it('leaves a hold as it is when Adyen refuses to add to it, to give a part back, and to let it end later', async () => {
    const hold = await place('stored_amountUpdates_fail');
    const { preauthorizationId } = hold;
    for (const [path, more] of [
      ['increment', { amountToAdd: 2_500 }],
      ['release', { amountToRelease: 2_500 }],
      ['extend', {}],
    ] as const) {
      const { body } = await shop.post(`/preauthorization/${path}`, { preauthorizationId, ...more });
      assert.equal((await settled(body.requestId)).status, 'KO');
    }
    const { body: now } = await shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([now.amount, now.amountRemaining, now.expiresAt], [10_000, 10_000, hold.expiresAt]);
  });

  it('keeps the amount of a capture that Adyen refuses later', async () => {
    const hold = await place('stored_captures_fail');
    const capture = { preauthorizationId: hold.preauthorizationId, amountToCapture: 4_000, finalCapture: true };
    const { body } = await shop.post('/preauthorization/authorization', capture);
    assert.equal((await settled(body.requestId)).status, 'KO');
    const { body: now } = await shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([now.amountCaptured, now.amountRemaining], [0, 10_000]);
  });

  it('releases a hold when Adyen says so', async () => {
    const hold = await place();
    const { status, body } = await shop.post('/preauthorization/release', { requestId: hold.requestId });
    assert.equal(status, 202);
    assert.equal((await settled(body.requestId)).status, 'OK');
    const { body: now } = await shop.get(`/preauthorization/${hold.requestId}`);
    assert.deepEqual([now.status, now.amountReleased], ['RELEASED', 10_000]);
  });

  it('books a chargeback, and what was won back of it', async () => {
    const hold = await place('stored_dispute_won');
    const capture = { preauthorizationId: hold.preauthorizationId, amountToCapture: 10_000 };
    const { body } = await shop.post('/preauthorization/authorization', capture);
    await settled(body.requestId);
    // The order of arrival is left to chance; `sequence` says in which order it happened.
    const disputed = () =>
      fleet.received
        .map(({ path, body: { sequence } }) => ({ kind: path.split('/').at(-1), sequence }))
        .filter(({ kind }) => kind === 'reversed' || kind === 'reinstated')
        .toSorted((one, other) => one.sequence - other.sequence);
    for (let round = 0; round < 200 && disputed().length < 2; round += 1) await delay(100);
    assert.deepEqual(
      disputed().map(({ kind }) => kind),
      ['reversed', 'reinstated'],
    );
    assert.equal((await shop.get(`/preauthorization/${hold.requestId}`)).body.amountReversed, 0);
  });

  it('finds a hold out whose answer was lost, and places it once', async () => {
    adyen.faults.push('answerLost');
    const { status, body } = await askFor('stored_ok', 500);
    assert.equal(status, 202);
    assert.equal((await settled(body.requestId)).status, 'OK');
    const payments = [...adyen.payments.values()].filter(({ authorised }) => authorised === 500);
    assert.equal(payments.length, 1);
  });
});
