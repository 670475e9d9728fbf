import assert from 'node:assert/strict';
import { forwardParkedNotifications } from '../../../../services/core/delivery/forward-parked.ts';
import { acceptNotifications } from '../../../../services/core/storage/notification/insert-accepted.ts';
import { openPurge } from '../../../../services/core/storage/purge.ts';
import { forSuite } from '../../../suite.ts';
import { openDeliveryStage, openReceiver, storedNotification } from '../delivery/stage.ts';

describe('forwardParkedNotifications()', () => {
  const stage = forSuite(openDeliveryStage);
  const signature = `${'A'.repeat(43)}=`;

  const accept = async (merchantId: string, requestIds: readonly string[], at = stage.clock()) =>
    acceptNotifications(
      stage.database.query,
      requestIds.map((requestId) =>
        storedNotification(requestId, { merchantId, signature, receivedAt: at.toISOString() }),
      ),
    );
  const setUrl = (merchantId: string, url: string | null) =>
    stage.sql('update merchant set internal_url = $2 where id = $1', [merchantId, url]);
  const forward = () => forwardParkedNotifications(stage.database, stage.announce, stage.clock());
  const deliveriesOf = (merchantId: string) =>
    stage.sql<{ id: string; requestId: string }>('select id, request_id from delivery where merchant_id = $1', [
      merchantId,
    ]);

  it("forwards once what was accepted before internalUrl was set, with its sender's signature", async () => {
    const receiver = await openReceiver();
    const deliverer = stage.openDeliverer();
    await stage.addMerchant('late', null);
    await accept('late', ['a', 'b']);
    assert.equal(await forward(), 0, 'there is no address to forward it to');
    await setUrl('late', receiver.url);
    assert.equal(await forward(), 2);
    assert.equal(await forward(), 0, 'once');
    while (receiver.received.length < 2) await deliverer.runOnce();
    assert.deepEqual(receiver.received.map(({ body }) => body).sort(), ['{"requestId":"a"}', '{"requestId":"b"}']);
    for (const { headers, path } of receiver.received) {
      assert.equal(headers['x-service-signature'], signature);
      assert.equal(headers['x-relay-signed-fields'], 'merchantId,requestId,status,amount,currency');
      assert.equal(path, '/webhook/processor/payment/captured');
    }
    await receiver.close();
  });

  it('forwards to further internal endpoints what they ask for, and parks the rest no longer', async () => {
    await stage.addMerchant('filters', null);
    await accept('filters', ['f1', 'f2']);
    await stage.sql("update notification set status_info = 'other' where request_id = 'f2'");
    const types = ['payment.captured'];
    await stage.addEndpoint('filters', 'http://127.0.0.1:1', { purpose: 'internal', types });
    await stage.addEndpoint('filters', 'http://127.0.0.1:1', { purpose: 'internal', types: ['payment.*', 'oct.*'] });
    await stage.addEndpoint('filters', 'http://127.0.0.1:1', { types: ['payment.*'] });
    assert.equal(await forward(), 2);
    const sent = (await deliveriesOf('filters')).map(({ requestId }) => requestId);
    assert.deepEqual(sent.sort(), ['f1', 'f1', 'f2']);
    assert.equal(await forward(), 0);
  });

  it('forwards each of many once, with several workers at work', async () => {
    await stage.addMerchant('crowd', null);
    await stage.addMerchant('still-without', null);
    const requestIds = Array.from({ length: 450 }, (_, index) => `c${index}`);
    await accept('crowd', requestIds);
    await accept('still-without', ['x']);
    await setUrl('crowd', 'http://127.0.0.1:1');
    const counts = await Promise.all([forward(), forward(), forward()]);
    assert.equal(counts.reduce((sum, count) => sum + count) + (await forward()), 450);
    const deliveries = await deliveriesOf('crowd');
    assert.equal(new Set(deliveries.map(({ requestId }) => requestId)).size, 450);
    assert.equal(deliveries.length, 450);
    assert.deepEqual(await deliveriesOf('still-without'), []);
  });

  it('misses none when the URL is set while notifications are accepted', async () => {
    await stage.addMerchant('racing', null);
    const requestIds = Array.from({ length: 40 }, (_, index) => `r${index}`);
    const accepting = requestIds.map((requestId) => accept('racing', [requestId]));
    await setUrl('racing', 'http://127.0.0.1:1');
    await Promise.all(accepting);
    await forward();
    assert.equal((await deliveriesOf('racing')).length, 40);
  });

  it('does not forward notifications whose body was purged', async () => {
    await stage.addMerchant('old', null);
    await accept('old', ['o'], new Date(stage.time.now - 91 * 86_400_000));
    await openPurge(stage.database, { notifications: 90, operations: 400 })(stage.clock());
    await setUrl('old', 'http://127.0.0.1:1');
    assert.equal(await forward(), 0);
  });
});
