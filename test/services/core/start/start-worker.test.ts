import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readSettings } from '../../../../platform/settings.ts';
import { WORKER_SETTINGS } from '../../../../services/core/settings/worker-settings.ts';
import { startWorker } from '../../../../services/core/start/start-worker.ts';
import { takeDue } from '../../../../services/core/storage/delivery/take-due.ts';
import { createDatabase } from '../../../database.ts';
import { forSuite } from '../../../suite.ts';
import { KEY, ok, openDeliveryStage, openReceiver } from '../delivery/stage.ts';

describe('startWorker()', () => {
  const stage = forSuite(openDeliveryStage);
  const receiver = forSuite(openReceiver);

  const settings = () =>
    readSettings(WORKER_SETTINGS, {
      DATABASE_URL: stage.url,
      ENCRYPTION_KEYS: `${KEY.id}:${KEY.key.toString('base64')}`,
      PROCESSOR_URL: '127.0.0.1:1',
      PROCESSOR_CREDENTIAL: randomBytes(32).toString('hex'),
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'silent',
    });

  it('does not start on a database without tables', async () => {
    const database = await createDatabase();
    const worker = startWorker({ ...settings(), DATABASE_URL: database.url });
    await assert.rejects(worker, /^Error: DATABASE_URL: .*run npm run migrate$/).finally(() => database.drop());
  });

  it('continues what a dead worker held', async () => {
    await stage.addMerchant('m', receiver.url);
    const id = await stage.addDelivery('m');
    const wanted = [{ merchantId: 'm', endpointId: 'webhook', cap: 1, room: 1 } as const];
    assert.equal((await takeDue(stage.database.query, wanted, stage.clock())).length, 1);
    const takenMs = performance.now();
    await stage.sql("update delivery set locked_until = now() + interval '1 s'");
    const arrived = Promise.withResolvers<string | undefined>();
    receiver.how.answer = (response, { headers }) => {
      ok(response);
      arrived.resolve(headers['webhook-id'] as string);
    };
    const worker = await startWorker(settings());
    try {
      assert.equal(await arrived.promise, id);
      assert(performance.now() - takenMs >= 1_000, 'not before its time was over');
    } finally {
      await worker.close();
    }
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED', 'what was in progress is settled before it stops');
  });

  it('finds deliveries that nobody announced', async () => {
    await stage.addMerchant('n', receiver.url);
    stage.time.now = Date.now() - 10_000;
    const id = await stage.addDelivery('n');
    const arrived = Promise.withResolvers<void>();
    receiver.how.answer = (response) => {
      ok(response);
      arrived.resolve();
    };
    const worker = await startWorker(settings());
    try {
      await arrived.promise;
    } finally {
      await worker.close();
    }
    assert.equal((await stage.deliveryOf(id)).state, 'DELIVERED');
  });

  it('neither attempts nor deletes anything while its clock is off', async () => {
    await stage.addMerchant('o', receiver.url);
    stage.time.now = Date.now() - 10_000;
    const id = await stage.addDelivery('o');
    receiver.how.answer = ok;
    await stage.sql("insert into signature_nonce (merchant_id, nonce, expires_at) values ('o', 'n', now() + '5 min')");
    const aheadMs = 3_600_000;
    const worker = await startWorker(settings(), { clock: () => new Date(Date.now() + aheadMs) });
    // The first run of everything is over then.
    await worker.close();
    assert.equal((await stage.deliveryOf(id)).attemptCount, 0);
    assert.equal((await stage.sql('select from signature_nonce')).length, 1);
  });
});
