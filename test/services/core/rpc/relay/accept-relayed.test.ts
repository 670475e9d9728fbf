import assert from 'node:assert/strict';
import {
  AcceptOutcome,
  EndpointKind,
  NotificationKind,
  NotificationService,
  QuarantineReason,
  StoredNotificationState,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { RelayService } from '../../../../../proto/gen/holdfast/v1/relay_pb.js';
import { takeDue } from '../../../../../services/core/storage/delivery/take-due.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

const SENDER = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const OTHER = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c';
/** No UTF-8. */
const BYTES = Buffer.from([0x00, 0xff, 0xfe, 0x0a]);

describe('AcceptRelayedNotification', () => {
  const stage = forSuite(openStage);
  const relay = forSuite(() => stage.client('gateway', RelayService));
  const operator = forSuite(() => stage.client('operator', NotificationService));

  before(async () => {
    await openMerchant(stage, 'm', { internalUrl: 'https://merchant.example' });
    await openMerchant(stage, 'deaf');
  });

  const accept = (identifier: string, change: object = {}) =>
    relay.acceptRelayedNotification({
      merchantId: 'm',
      senderId: SENDER,
      identifier,
      body: BYTES,
      headers: [{ name: 'content-type', value: 'text/plain' }],
      forward: true,
      ...change,
    });
  const storedOf = async (requestId: string, merchantId = 'm') =>
    (await operator.listStoredNotifications({ merchantId, requestId })).notifications[0];

  it('stores one once for each sender and identifier, and forwards its bytes and headers', async () => {
    const { outcome, requestId } = await accept('a');
    assert.equal(outcome, AcceptOutcome.STORED);
    assert.equal(requestId.length, 64);
    assert.equal((await accept('a')).outcome, AcceptOutcome.DUPLICATE);
    assert.equal((await accept('a', { senderId: OTHER })).outcome, AcceptOutcome.STORED);
    const stored = await storedOf(requestId);
    assert.equal(stored?.identifier, 'a');
    assert.equal(stored.kind, NotificationKind.RELAY);
    assert.equal(stored.statusInfo, SENDER);
    assert.equal(stored.state, StoredNotificationState.FORWARDED);
    const wanted = { merchantId: 'm', endpointId: 'internal', cap: 10, room: 10 } as const;
    const due = await takeDue(stage.database.query, [wanted], new Date(stage.clock.now() + 1_000));
    const mine = due.find((delivery) => delivery.requestId === requestId);
    assert.deepEqual(mine?.body, BYTES);
    assert.deepEqual(mine.relayedHeaders, { 'content-type': 'text/plain' });
    const { content } = await operator.getDelivery({ deliveryId: stored.deliveryId });
    assert.equal(content?.url, `https://merchant.example/webhook/relay/${SENDER}`);
    const names = content.headers.map(({ name }) => name);
    assert(!names.includes('x-service-signature'));
    assert(names.includes('webhook-signature'));
    assert.equal(content.headers.find(({ name }) => name === 'content-type')?.value, 'text/plain');
  });

  it('sets another body under the same identifier aside, once, which an operator releases', async () => {
    const { requestId } = await accept('b');
    const other = { body: Buffer.from('other') };
    for (let turn = 0; turn < 2; turn++) assert.equal((await accept('b', other)).outcome, AcceptOutcome.CONFLICT);
    assert.equal((await accept('b', { body: Buffer.from('third') })).outcome, AcceptOutcome.CONFLICT);
    const { notifications } = await operator.listQuarantinedNotifications({ merchantId: 'm' });
    const held = notifications.filter((each) => each.requestId === requestId);
    assert.equal(held.length, 2);
    assert.equal(held[0]?.reason, QuarantineReason.CONFLICT);
    assert.equal(held[0].accepted?.identifier, 'b');
    const { quarantineId } = held[1] as { quarantineId: string };
    const { notification } = await operator.releaseQuarantinedNotification({ quarantineId });
    const rows = await sql<{ body: Buffer; relayed_headers: object }>(
      stage,
      'select body, relayed_headers from delivery where id = $1',
      [notification?.deliveryId],
    );
    assert.equal(rows[0]?.body.toString(), 'other');
    assert.deepEqual(rows[0]?.relayed_headers, { 'content-type': 'text/plain' });
  });

  it('parks one until there is an internalUrl', async () => {
    const { requestId } = await accept('c', { merchantId: 'deaf' });
    assert.equal((await storedOf(requestId, 'deaf'))?.state, StoredNotificationState.PARKED);
    await sql(stage, 'update merchant set internal_url = $1 where id = $2', ['https://inner.example', 'deaf']);
    const { notification } = await operator.replayStoredNotification({ merchantId: 'deaf', requestId });
    const { delivery, content } = await operator.getDelivery({ deliveryId: notification?.deliveryId ?? '' });
    assert.equal(delivery?.endpointKind, EndpointKind.INTERNAL);
    assert.equal(content?.headers.find(({ name }) => name === 'content-type')?.value, 'text/plain');
  });

  it('only stores one whose type is not forwarded', async () => {
    const { outcome, requestId } = await accept('d', { forward: false });
    assert.equal(outcome, AcceptOutcome.STORED);
    assert.equal((await storedOf(requestId))?.state, StoredNotificationState.NOT_FORWARDED);
    assert.equal((await operator.listDeliveries({ requestId })).deliveries.length, 0);
  });

  it('takes an empty body, and identifiers of any visible characters', async () => {
    assert.equal((await accept('e', { body: Buffer.alloc(0) })).outcome, AcceptOutcome.STORED);
    assert.equal((await accept(`~"'\\${'x'.repeat(120)}`)).outcome, AcceptOutcome.STORED);
  });

  for (const change of [
    { identifier: '' },
    { identifier: 'a b' },
    { identifier: 'a\0' },
    { identifier: 'x'.repeat(129) },
    { body: Buffer.alloc(65_537) },
    { senderId: 'github' },
    { headers: Array.from({ length: 9 }, (_, index) => ({ name: `x-${index}`, value: 'a' })) },
    { headers: [{ name: '', value: 'a' }] },
  ]) {
    it(`refuses ${JSON.stringify(change).slice(0, 60)}`, async () => {
      assert.equal(await why(accept('f', change)), 'INVALID_REQUEST');
    });
  }

  it('refuses operators', async () => {
    const call = stage.client('operator', RelayService).acceptRelayedNotification({});
    assert.equal(await why(call), 'FORBIDDEN');
  });
});
