import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import {
  AcceptNotificationRequestSchema,
  AcceptOutcome,
  DeliveryState,
  EndpointKind,
  EndpointPause,
  NotificationKind,
  NotificationService,
  QuarantineReason,
  QuarantineState,
  VerificationFailureReason,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { notificationInput } from '../../../../../services/core/rpc/notification/accept-notifications.ts';
import { type Aside, setAside } from '../../../../../services/core/storage/notification/quarantined-notification.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';
import { notification } from './verified.ts';

describe('NotificationService', () => {
  const stage = forSuite(openStage);
  const relay = forSuite(() => stage.client('gateway', NotificationService));
  const operator = forSuite(() => stage.client('operator', NotificationService));

  before(async () => {
    await openMerchant(stage, 'm', { internalUrl: 'https://merchant.example' });
    await openMerchant(stage, 'deaf');
  });

  const deliveriesOf = async (requestId: string) => (await operator.listDeliveries({ requestId })).deliveries;
  const end = (requestId: string, state: 'DEAD' | 'DELIVERED') =>
    stage.database.query(
      { name: '', text: 'update delivery set state = $2, due_at = null, attempt_count = 10 where request_id = $1' },
      [requestId, state],
    );

  it('accepts, recognises duplicates, quarantines conflicts', async () => {
    const { outcome } = await relay.acceptNotification(notification('a'));
    assert.equal(outcome, AcceptOutcome.STORED);
    assert.equal((await relay.acceptNotification(notification('a'))).outcome, AcceptOutcome.DUPLICATE);
    const other = notification('a', { amount: '11' });
    assert.equal((await relay.acceptNotification(other)).outcome, AcceptOutcome.CONFLICT);
    assert.equal((await relay.acceptNotification(other)).outcome, AcceptOutcome.CONFLICT);
    const { notifications } = await operator.listQuarantinedNotifications({ merchantId: 'm' });
    assert.equal(notifications.length, 1);
    assert.equal(notifications[0]?.reason, QuarantineReason.CONFLICT);
    const [delivery] = await deliveriesOf('a');
    assert.equal(delivery?.endpointKind, EndpointKind.INTERNAL);
    assert.equal(delivery.state, DeliveryState.PENDING);
    assert.deepEqual((await operator.getDelivery({ deliveryId: delivery.deliveryId })).delivery?.attempts, []);
  });

  it('quarantines so many of a merchant until an operator decides, who can discard them by filter', async () => {
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    const aside = (requestId: string, merchantId = 'flooding') =>
      relay.quarantineNotification({ ...notification(requestId, { merchantId, statusInfo: 'reversed' }), reason });
    await openMerchant(stage, 'flooding');
    for (let index = 0; index < 500; index += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, each) => aside(`q-${index + each}`)));
    }
    assert.equal(await why(aside('one more')), 'INVALID_REQUEST');
    assert.equal(await why(aside('one-more')), 'UNAVAILABLE');
    await aside('q-1');
    await aside('mine', 'm');
    await relay.acceptNotification(notification('taken', { merchantId: 'flooding' }));
    const conflict = notification('taken', { merchantId: 'flooding', amount: '11' });
    assert.equal(await why(relay.acceptNotification(conflict)), 'UNAVAILABLE');
    const held = async () => {
      const filter = { merchantId: 'flooding', state: QuarantineState.HELD, pageSize: 200 };
      return (await operator.listQuarantinedNotifications(filter)).notifications.length;
    };
    const conflicts = { merchantId: 'flooding', reason: QuarantineReason.CONFLICT };
    assert.deepEqual((await operator.discardQuarantinedNotifications(conflicts)).discardedCount, 0);
    const discarded = await operator.discardQuarantinedNotifications({ merchantId: 'flooding', reason });
    assert.deepEqual([discarded.discardedCount, discarded.more, await held()], [500, false, 0]);
    assert.equal((await relay.acceptNotification(conflict)).outcome, AcceptOutcome.CONFLICT);
    assert.equal(await held(), 1);
    const { notifications } = await operator.listQuarantinedNotifications({
      merchantId: 'm',
      state: QuarantineState.HELD,
    });
    assert(notifications.some(({ requestId }) => requestId === 'mine'));
  });

  it('shows both sides of a conflict, and of a contradiction once its pair is taken', async () => {
    await relay.acceptNotification(notification('sides'));
    await relay.acceptNotification(notification('sides', { status: 'KO', statusInfo: 'declined', amount: '9.5' }));
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    await relay.quarantineNotification({ ...notification('lone', { statusInfo: 'reversed' }), reason });
    const sidesOf = async (requestId: string) => {
      const { notifications } = await operator.listQuarantinedNotifications({ merchantId: 'm' });
      const held = notifications.filter((each) => each.requestId === requestId);
      return held.map(({ statusInfo, status, amount, accepted }) => ({ held: [statusInfo, status, amount], accepted }));
    };
    const [sides] = await sidesOf('sides');
    assert.deepEqual(sides?.held, ['declined', 'KO', '9.5']);
    const { merchantId, kind, statusInfo, status, amount, currency, receivedAt } = sides.accepted ?? {};
    assert.deepEqual([merchantId, kind, statusInfo, status], ['m', NotificationKind.PAYMENT, 'captured', 'OK']);
    assert.deepEqual([amount, currency], ['10', 'EUR']);
    assert(receivedAt);
    assert.equal((await sidesOf('lone'))[0]?.accepted, undefined, 'the pair is free');
    await relay.acceptNotification(notification('lone'));
    assert.equal((await sidesOf('lone'))[0]?.accepted?.statusInfo, 'captured');
  });

  it('knows a contradiction that another core is storing', async () => {
    const { database } = stage.recovery;
    const statusInfo = 'reversed';
    const request = create(AcceptNotificationRequestSchema, notification('twice', { statusInfo }));
    const same = notificationInput(request, new Date());
    let second: Promise<Aside> | undefined;
    const first = await database.transaction(async (query) => {
      const stored = await setAside(query, same, 'STATUS_INFO_CONTRADICTED');
      second = setAside(database.query, { ...same, deliveryId: randomUUID() }, 'STATUS_INFO_CONTRADICTED');
      while ((await sql(stage, 'select from pg_locks where not granted')).length === 0);
      return stored;
    });
    assert.deepEqual([first, await second], ['STORED', 'KNOWN']);
  });

  it('quarantines a conflict once, and a contradiction once for each word, in any spelling of its sender', async () => {
    await relay.acceptNotification(notification('once'));
    for (const statusInfo of ['captured', 'x1', 'x2', 'Captured']) {
      await relay.acceptNotification(notification('once', { amount: '11', statusInfo }));
    }
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    for (const statusInfo of ['declined', 'DECLINED', 'Declined', 'failed']) {
      await relay.quarantineNotification({ ...notification('once', { statusInfo }), reason });
    }
    const { notifications } = await operator.listQuarantinedNotifications({ merchantId: 'm' });
    const held = notifications.filter(({ requestId }) => requestId === 'once').map(({ statusInfo }) => statusInfo);
    assert.deepEqual(held.sort(), ['captured', 'declined', 'failed']);
  });

  it('is for its roles only', async () => {
    const internal = stage.client('internal', NotificationService);
    assert.equal(await why(internal.acceptNotification(notification('x'))), 'FORBIDDEN');
    assert.equal(await why(relay.listDeliveries({})), 'FORBIDDEN');
    assert.equal(await why(operator.acceptNotification(notification('x'))), 'FORBIDDEN');
  });

  it('forwards a released notification once, and a discarded one never', async () => {
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    for (const requestId of ['b', 'b', 'c']) await relay.quarantineNotification({ ...notification(requestId), reason });
    const held = async () =>
      (await operator.listQuarantinedNotifications({ merchantId: 'm', state: QuarantineState.HELD })).notifications;
    const find = async (requestId: string) =>
      (await held()).find((each) => each.requestId === requestId)?.quarantineId ?? '';
    const [b, c] = [await find('b'), await find('c')];
    assert.equal((await deliveriesOf('b')).length, 0);
    const released = (await operator.releaseQuarantinedNotification({ quarantineId: b })).notification;
    assert.equal(released?.state, QuarantineState.RELEASED);
    const again = (await operator.releaseQuarantinedNotification({ quarantineId: b })).notification;
    assert.equal(again?.deliveryId, released.deliveryId);
    assert.deepEqual(
      (await deliveriesOf('b')).map((each) => each.deliveryId),
      [released.deliveryId],
    );
    assert.equal(await why(operator.discardQuarantinedNotification({ quarantineId: b })), 'INVALID_REQUEST');
    await operator.discardQuarantinedNotification({ quarantineId: c });
    assert.equal(await why(operator.releaseQuarantinedNotification({ quarantineId: c })), 'INVALID_REQUEST');
    assert.equal((await deliveriesOf('c')).length, 0);
    assert.equal(
      (await relay.acceptNotification(notification('b'))).outcome,
      AcceptOutcome.STORED,
      'the pair was free',
    );
    assert.equal(await why(operator.releaseQuarantinedNotification({ quarantineId: uuidv7() })), 'OPERATION_NOT_FOUND');
  });

  it('refuses to release what cannot be forwarded', async () => {
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    await relay.quarantineNotification({ ...notification('d', { merchantId: 'deaf' }), reason });
    const { notifications } = await operator.listQuarantinedNotifications({ merchantId: 'deaf' });
    const quarantineId = notifications[0]?.quarantineId ?? '';
    assert.equal(await why(operator.releaseQuarantinedNotification({ quarantineId })), 'INVALID_REQUEST');
    const [still] = (await operator.listQuarantinedNotifications({ merchantId: 'deaf' })).notifications;
    assert.equal(still?.state, QuarantineState.HELD);
  });

  it('replays one delivery and a range, throttled', async () => {
    for (const requestId of ['r1', 'r2', 'r3']) {
      await relay.acceptNotification(notification(requestId));
      await end(requestId, 'DEAD');
    }
    const [first] = await deliveriesOf('r1');
    const { delivery } = await operator.replayDelivery({ deliveryId: first?.deliveryId ?? '' });
    assert.equal(delivery?.state, DeliveryState.PENDING);
    assert.equal(delivery.attemptCount, 10, 'earlier attempts remain');
    await end('r1', 'DEAD');
    const range = { merchantId: 'm', maxCount: 2, perSecond: 1 };
    assert.deepEqual(
      { ...(await operator.replayDeliveries(range)), $typeName: '' },
      { $typeName: '', replayedCount: 2, more: true },
    );
    const dues = await Promise.all(['r1', 'r2', 'r3'].map(async (each) => (await deliveriesOf(each))[0]?.dueAt));
    assert.equal(Number(dues[1]?.seconds) - Number(dues[0]?.seconds), 1);
    assert.equal(dues[2], undefined);
    assert.equal((await operator.replayDeliveries(range)).replayedCount, 1);
    const delivered = { ...range, state: DeliveryState.DELIVERED };
    assert.equal((await operator.replayDeliveries(delivered)).replayedCount, 0);
    assert.equal(await why(operator.replayDelivery({ deliveryId: 'x' })), 'OPERATION_NOT_FOUND');
    await end('r1', 'DELIVERED');
    await stage.database.query({ name: '', text: "update delivery set body = null where request_id = 'r1'" }, []);
    const purged = { deliveryId: first?.deliveryId ?? '' };
    assert.equal(await why(operator.replayDelivery(purged)), 'INVALID_REQUEST');
  });

  it('pauses and resumes an endpoint', async () => {
    const key = { merchantId: 'm', endpointKind: EndpointKind.WEBHOOK };
    assert.equal((await operator.pauseEndpoint(key)).endpoint?.pause, EndpointPause.OPERATOR);
    const { endpoints } = await operator.listEndpoints({});
    assert.deepEqual(
      endpoints.map(({ merchantId, pause }) => [merchantId, pause]),
      [['m', EndpointPause.OPERATOR]],
    );
    assert.equal((await operator.resumeEndpoint(key)).endpoint?.pause, EndpointPause.UNSPECIFIED);
    assert.deepEqual((await operator.listEndpoints({})).endpoints, []);
    assert.equal(await why(operator.pauseEndpoint({ ...key, merchantId: 'nobody' })), 'OPERATION_NOT_FOUND');
  });

  it('stores failed verifications, each once', async () => {
    const failure = (reason: VerificationFailureReason) => ({
      failureId: uuidv7(),
      failedAt: timestampFromDate(new Date(1_800_000_000_000)),
      reason,
      kind: NotificationKind.OCT,
      statusInfo: 'paid',
      claimedMerchantId: 'm',
      address: '192.0.2.1',
      bodyBytes: 17,
      bodySha256: Buffer.alloc(32, 1),
      signatureSha256Prefix: '0123abcd',
    });
    const { WRONG_SIGNATURE, UNKNOWN_MERCHANT } = VerificationFailureReason;
    const failures = [failure(WRONG_SIGNATURE), failure(UNKNOWN_MERCHANT)];
    await relay.reportVerificationFailures({ failures });
    await relay.reportVerificationFailures({ failures, droppedCount: 3 });
    const first = await operator.listVerificationFailures({ pageSize: 1 });
    const second = await operator.listVerificationFailures({ pageSize: 1, pageToken: first.nextPageToken });
    assert.deepEqual(
      [...first.failures, ...second.failures].map((each) => each.failureId),
      [failures[1]?.failureId, failures[0]?.failureId],
    );
    assert.equal(second.nextPageToken, '');
    assert.equal(Buffer.from(first.failures[0]?.bodySha256 ?? []).length, 32);
    const wrong = await operator.listVerificationFailures({ reason: WRONG_SIGNATURE });
    assert.equal(wrong.failures.length, 1);
  });

  it('audits what operators do', async () => {
    const rows = await stage.database.query<{ action: string }>(
      { name: '', text: 'select distinct action from audit_entry' },
      [],
    );
    const actions = new Set(rows.map(({ action }) => action));
    for (const action of ['delivery.replay', 'delivery.replay-range', 'endpoint.pause', 'endpoint.resume'])
      assert(actions.has(action));
    for (const action of ['quarantine.release', 'quarantine.discard']) assert(actions.has(action));
  });
});
