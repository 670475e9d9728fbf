import assert from 'node:assert/strict';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import {
  NotificationKind,
  NotificationService,
  QuarantineReason,
  VerificationFailureReason,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage } from '../../stage.ts';
import { notification } from '../notification/verified.ts';

describe('The overview', () => {
  const stage = forSuite(openStage);
  const addresses = { webhookUrl: 'https://merchant.example', internalUrl: 'https://inner.example' };
  const acme = forSuite(() => openMerchant(stage, 'acme', addresses));
  const operators = forSuite(() => stage.client('operator', OperatorService));
  const relay = forSuite(() => stage.client('gateway', NotificationService));

  it('counts nothing where there is nothing', async () => {
    const { $typeName: _, at, processors, ...counts } = await operators.getOverview({});
    assert.equal(counts.reconcilingSince, undefined);
    assert.equal(at && timestampDate(at).getTime(), stage.clock.now());
    assert.deepEqual(new Set(Object.values(counts)), new Set([0]));
    assert.deepEqual(
      processors.map(({ processor, configured, available }) => [processor, configured, available]),
      [['default', true, true]],
    );
  });

  it('counts what may need attention', async () => {
    const begin = stage.clock.now();
    await acme.hold();
    const unknown = await acme.hold({ tokenId: 'tok_sandbox_capture_timeout_lost' });
    await acme.capture(unknown, 100n);
    const review = await acme.oct({ tokenId: 'tok_sandbox_timeout_lost' });
    await sql(stage, "update submission set state = 'NEEDS_REVIEW' where request_id = $1", [review.oct?.requestId]);
    const frozen = await acme.hold();
    const later = "release_at = expires_at, expires_at = expires_at + interval '1 day'";
    await sql(stage, `update hold set frozen = true, ${later} where request_id = $1`, [frozen.requestId]);
    await sql(stage, "update delivery set state = 'DEAD', due_at = null where request_id = $1", [frozen.requestId]);
    const reason = QuarantineReason.STATUS_INFO_CONTRADICTED;
    await relay.quarantineNotification({ ...notification('q', { merchantId: 'acme' }), reason });
    const failing = `insert into endpoint (merchant_id, kind, failure_count, pause_count, changed_at, refused_count, failing_since)
      values ('acme', 'webhook', 1, 0, now(), 377, '2027-01-01')`;
    await sql(stage, failing);
    stage.clock.advance(6 * 24 * 3_600_000 + 60_000);
    const overview = await operators.getOverview({});
    assert.equal(overview.expiringHoldCount, 3);
    assert.equal(overview.unknownCount, 1);
    assert.equal(overview.oldestUnknownAt && timestampDate(overview.oldestUnknownAt).getTime(), begin);
    assert.equal(overview.needsReviewCount, 1);
    assert.equal(overview.frozenHoldCount, 1);
    assert.equal(overview.quarantinedCount, 1);
    assert.equal(overview.deadDeliveryCount, 1);
    assert.equal(overview.dueDeliveryCount, 2);
    assert.equal(overview.oldestDueAt && timestampDate(overview.oldestDueAt).getTime(), begin);
    assert.equal(overview.pausedEndpointCount, 0);
    assert.equal(overview.failingEndpointCount, 1);
    const { endpoints } = await stage.client('operator', NotificationService).listEndpoints({});
    const [endpoint] = endpoints;
    assert.deepEqual([endpoints.length, endpoint?.failureCount], [1, 378]);
    assert.equal(endpoint?.failingSince && timestampDate(endpoint.failingSince).getTime(), Date.UTC(2027, 0, 1));
    const [only, ...others] = overview.processors;
    assert.deepEqual([only?.unknownCount, only?.needsReviewCount, others], [1, 1, []]);
    assert.equal(only?.oldestUnknownAt && timestampDate(only.oldestUnknownAt).getTime(), begin);
  });

  it('says since when the database is being reconciled', async () => {
    const since = new Date('2026-11-21T12:00:00.123Z');
    await sql(stage, 'update installation set reconciling_since = $1', [since]);
    const { reconcilingSince } = await operators.getOverview({});
    await sql(stage, 'update installation set reconciling_since = null');
    assert.deepEqual(reconcilingSince && timestampDate(reconcilingSince), since);
  });

  it('lists each processor, and names one that is no longer configured', async () => {
    await sql(stage, "update submission set processor = 'gone' where state = 'NEEDS_REVIEW'");
    const { processors } = await operators.getOverview({});
    assert.deepEqual(
      processors.map(({ processor, configured, available, unknownCount, needsReviewCount }) =>
        [processor, configured, available, unknownCount, needsReviewCount].join(' '),
      ),
      ['default true true 1 0', 'gone false false 0 1'],
    );
  });

  it('counts by minute, the current one last', async () => {
    stage.clock.advance(60_000 - (stage.clock.now() % 60_000));
    await acme.hold();
    await acme.place({ tokenId: 'tok_sandbox_declined' }).catch(() => undefined);
    stage.clock.advance(60_000);
    const { requestId } = await acme.hold();
    await sql(stage, "update delivery set state = 'DELIVERED', due_at = null where request_id = $1", [requestId]);
    await relay.acceptNotification(notification('v', { merchantId: 'acme' }));
    await relay.reportVerificationFailures({ failures: [failure(stage.clock.now())] });
    const { minutes } = await operators.listMinutes({ minuteCount: 3 });
    assert.deepEqual(
      minutes.map(({ okCount, koCount, deliveryCount, deliveredCount, verifiedCount, refusedCount }) =>
        [okCount, koCount, deliveryCount, deliveredCount, verifiedCount, refusedCount].join(' '),
      ),
      ['0 0 0 0 0 0', '1 1 2 0 0 0', '1 0 2 1 1 1'],
    );
    const starts = minutes.map(({ start }) => (start ? timestampDate(start).getTime() : 0));
    assert.deepEqual(
      starts,
      [-120_000, -60_000, 0].map((ms) => Math.floor(stage.clock.now() / 60_000) * 60_000 + ms),
    );
    const { minutes: ofNobody } = await operators.listMinutes({ minuteCount: 2, merchantId: 'nobody' });
    assert.deepEqual(
      ofNobody.map(({ okCount, deliveryCount, verifiedCount, refusedCount }) => [
        okCount,
        deliveryCount,
        verifiedCount,
        refusedCount,
      ]),
      [
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    );
    assert.equal((await operators.listMinutes({})).minutes.length, 60);
  });

  it('finds holds by reference and by requestId, and deliveries by hold', async () => {
    const { holds, opened } = stage.channel('operator');
    const hold = await acme.hold({ merchantReference: 'order-77' });
    await acme.capture(hold, 100n);
    const ids = async (filter: object) =>
      (await holds.listPreauthorizations(filter)).preauthorizations.map(({ requestId }) => requestId);
    assert.deepEqual(await ids({ merchantReference: 'order-77' }), [hold.requestId]);
    assert.deepEqual(await ids({ requestId: hold.requestId }), [hold.requestId]);
    assert.deepEqual(await ids({ requestId: 'x' }), []);
    const notifications = opened.client(NotificationService);
    const words = async (holdRequestId: string) =>
      (await notifications.listDeliveries({ holdRequestId })).deliveries.map(({ statusInfo }) => statusInfo);
    assert.deepEqual(await words(hold.requestId), ['captured', 'authorized']);
    assert.deepEqual(await words('x'), []);
  });
});

function failure(at: number) {
  return {
    failureId: uuidv7(),
    failedAt: { seconds: BigInt(Math.floor(at / 1_000)), nanos: 0 },
    reason: VerificationFailureReason.WRONG_SIGNATURE,
    kind: NotificationKind.PAYMENT,
    statusInfo: 'captured',
    claimedMerchantId: 'acme',
    address: '192.0.2.1',
    bodyBytes: 2,
    bodySha256: Buffer.alloc(32),
    signatureSha256Prefix: '01234567',
  };
}
