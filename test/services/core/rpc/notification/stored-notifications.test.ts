import assert from 'node:assert/strict';
import { NotificationService, StoredNotificationState } from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';
import { notification } from './verified.ts';

const { PARKED, FORWARDED, NOT_FORWARDED } = StoredNotificationState;

describe('ListStoredNotifications and ReplayStoredNotification', () => {
  const stage = forSuite(openStage);
  const relay = forSuite(() => stage.client('gateway', NotificationService));
  const operator = forSuite(() => stage.client('operator', NotificationService));

  before(async () => {
    await openMerchant(stage, 'deaf');
    await openMerchant(stage, 'm', { internalUrl: 'https://merchant.example' });
  });

  const accept = (merchantId: string, requestId: string) => {
    stage.clock.advance(1_000);
    return relay.acceptNotification(notification(requestId, { merchantId }));
  };
  const list = async (filter: Parameters<typeof operator.listStoredNotifications>[0]) =>
    (await operator.listStoredNotifications(filter)).notifications.map((each) => [each.requestId, each.state]);
  const setUrl = (merchantId: string, url: string | null) =>
    sql('update merchant set internal_url = $2 where id = $1', [merchantId, url]);
  const sql = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    stage.database.query<Row>({ name: '', text }, values);
  const deliveriesOf = (requestId: string) =>
    sql<{ id: string; state: string; signature: string }>(
      'select id, state, signature from delivery where request_id = $1',
      [requestId],
    );

  it('list newest first, by merchant, by waiting state, and page by page', async () => {
    for (const [merchantId, requestId] of [
      ['m', 'a'],
      ['deaf', 'b'],
      ['m', 'c'],
      ['deaf', 'd'],
    ] as const) {
      await accept(merchantId, requestId);
    }
    assert.deepEqual(await list({}), [
      ['d', PARKED],
      ['c', FORWARDED],
      ['b', PARKED],
      ['a', FORWARDED],
    ]);
    assert.deepEqual(await list({ merchantId: 'm' }), [
      ['c', FORWARDED],
      ['a', FORWARDED],
    ]);
    const parked = { state: PARKED, pageSize: 1 };
    const first = await operator.listStoredNotifications(parked);
    const second = await operator.listStoredNotifications({ ...parked, pageToken: first.nextPageToken });
    assert.deepEqual(
      [...first.notifications, ...second.notifications].map(({ requestId }) => requestId),
      ['d', 'b'],
    );
    assert.equal(second.nextPageToken, '');
    assert.deepEqual(await list({ merchantId: 'deaf', state: PARKED, requestId: 'b' }), [['b', PARKED]]);
    assert.deepEqual(await list({ merchantId: 'm', state: PARKED }), []);
    assert.deepEqual(await list({ merchantId: 'm', requestId: 'b' }), []);
    const foreign = { ...parked, merchantId: 'm', pageToken: first.nextPageToken };
    for (const wrong of [foreign, { requestId: 'b' }, { state: FORWARDED }, { pageToken: 'x' }]) {
      assert.equal(await why(operator.listStoredNotifications(wrong)), 'INVALID_REQUEST');
    }
  });

  it('replay a forwarded notification through its existing delivery', async () => {
    await accept('m', 'again');
    await sql(`update delivery set state = 'DELIVERED', due_at = null where request_id = 'again'`);
    const [delivery] = await deliveriesOf('again');
    const { notification: now } = await operator.replayStoredNotification({ merchantId: 'm', requestId: 'again' });
    assert.deepEqual([now?.state, now?.deliveryId], [FORWARDED, delivery?.id]);
    assert.deepEqual(
      (await deliveriesOf('again')).map(({ state }) => state),
      ['PENDING'],
    );
  });

  it('distinguish a released notification from an accepted one', async () => {
    await accept('m', 'both');
    await relay.acceptNotification(notification('both', { amount: '11' }));
    const { notifications } = await operator.listQuarantinedNotifications({ merchantId: 'm' });
    const quarantineId = notifications[0]?.quarantineId ?? '';
    await sql(`delete from delivery where request_id = 'both'`);
    await operator.releaseQuarantinedNotification({ quarantineId });
    assert.deepEqual(await list({ merchantId: 'm', requestId: 'both' }), [['both', NOT_FORWARDED]]);
  });

  it('replay a waiting notification once there is an internalUrl, and refuse it before', async () => {
    const key = { merchantId: 'deaf', requestId: 'b' };
    assert.equal(await why(operator.replayStoredNotification(key)), 'INVALID_REQUEST');
    assert.deepEqual(await deliveriesOf('b'), []);
    await setUrl('deaf', 'https://deaf.example');
    const { notification: now } = await operator.replayStoredNotification(key);
    assert.equal(now?.state, FORWARDED);
    assert.deepEqual(
      (await deliveriesOf('b')).map(({ id, signature }) => [id, signature]),
      [[now.deliveryId, `${'A'.repeat(43)}=`]],
    );
    await operator.replayStoredNotification(key);
    assert.equal((await deliveriesOf('b')).length, 1, 'its delivery is sent again');
  });

  it('reject one that does not exist, and one whose body was purged', async () => {
    const replay = (requestId: string) => operator.replayStoredNotification({ merchantId: 'm', requestId });
    assert.equal(await why(replay('nobody')), 'OPERATION_NOT_FOUND');
    await accept('m', 'purged');
    await sql(`update delivery set body = null, state = 'DEAD', due_at = null where request_id = 'purged'`);
    await sql(`update notification set body = null where request_id = 'purged'`);
    assert.equal(await why(replay('purged')), 'INVALID_REQUEST');
    assert.deepEqual(await list({ merchantId: 'm', requestId: 'purged' }), [['purged', FORWARDED]]);
    assert(!(await list({ merchantId: 'm' })).some(([requestId]) => requestId === 'purged'));
  });

  it('are for operators, and audited', async () => {
    const key = { merchantId: 'm', requestId: 'a' };
    assert.equal(await why(relay.listStoredNotifications({})), 'FORBIDDEN');
    assert.equal(await why(relay.replayStoredNotification(key)), 'FORBIDDEN');
    await operator.replayStoredNotification(key);
    const entries = await sql<{ target: string }>(
      `select target from audit_entry where action = 'notification.replay'`,
    );
    assert(entries.some(({ target }) => target === 'm/a'));
    assert(!entries.some(({ target }) => target === 'm/purged'), 'refused calls are not audited');
  });
});
