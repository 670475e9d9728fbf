import assert from 'node:assert/strict';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import {
  NotificationKind,
  NotificationService,
  VerificationFailureReason,
} from '../../../../../proto/gen/holdfast/v1/notification_pb.js';
import { RelayService } from '../../../../../proto/gen/holdfast/v1/relay_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

const EXPLAIN = {
  rule: 'X-Service-Signature is Base64 of HMAC-SHA256 of the five fields',
  mistake: 'amount was signed as 10.5, the body says 10.50',
  signedBegins: 'mREQ-1OK10.50EUR',
  signedBytes: 16,
  keyIds: [uuidv7()],
};

describe('ListRelayFailures', () => {
  const stage = forSuite(openStage);
  const relay = forSuite(() => stage.client('operator', RelayService));
  const gateway = forSuite(() => stage.client('gateway', NotificationService));

  before(() => openMerchant(stage, 'm'));

  const failure = (claimedMerchantId: string, change: object = {}) => ({
    failureId: uuidv7(),
    failedAt: timestampNow(),
    reason: VerificationFailureReason.WRONG_SIGNATURE,
    kind: NotificationKind.PAYMENT,
    statusInfo: 'captured',
    claimedMerchantId,
    address: '192.0.2.1',
    bodyBytes: 10,
    bodySha256: Buffer.alloc(32, 1),
    signatureSha256Prefix: '',
    ...change,
  });

  it("lists a merchant's own, newest first, with explanations and page by page", async () => {
    const senderId = uuidv7();
    const ofSender = {
      kind: NotificationKind.RELAY,
      statusInfo: senderId,
      reason: VerificationFailureReason.STALE_TIMESTAMP,
    };
    const failures = [
      failure('m', { explain: EXPLAIN }),
      failure('other', { explain: EXPLAIN }),
      failure('', { ...ofSender, reason: VerificationFailureReason.UNKNOWN_SENDER }),
      failure('m', ofSender),
    ];
    await gateway.reportVerificationFailures({ failures });
    const { failures: mine } = await relay.listRelayFailures({ merchantId: 'm' });
    assert.deepEqual(
      mine.map(({ failureId }) => failureId),
      [failures[3]?.failureId, failures[0]?.failureId],
    );
    assert.equal(mine[0]?.kind, NotificationKind.RELAY);
    assert.equal(mine[0].statusInfo, senderId);
    assert.equal(mine[0].explain, undefined);
    const { $typeName: _, ...explain } = mine[1]?.explain ?? assert.fail();
    assert.deepEqual({ ...explain }, EXPLAIN);
    const { reason } = ofSender;
    assert.equal((await relay.listRelayFailures({ merchantId: 'm', reason })).failures.length, 1);
    const { failures: ofOne } = await relay.listRelayFailures({ merchantId: 'm', senderId });
    assert.deepEqual(ofOne, [mine[0]]);
    assert.deepEqual((await relay.listRelayFailures({ merchantId: 'other', senderId })).failures, []);
    const first = await relay.listRelayFailures({ merchantId: 'm', pageSize: 1 });
    const second = await relay.listRelayFailures({ merchantId: 'm', pageSize: 1, pageToken: first.nextPageToken });
    assert.deepEqual([...first.failures, ...second.failures], mine);
  });

  it('refuses no merchant, and an explanation that is too long', async () => {
    assert.equal(await why(relay.listRelayFailures({})), 'INVALID_REQUEST');
    for (const change of [
      { rule: 'x'.repeat(201) },
      { signedBegins: 'x'.repeat(25) },
      { signedBegins: '\0' },
      { keyIds: ['a'] },
      { signedBytes: -1 },
    ]) {
      const failures = [failure('m', { explain: { ...EXPLAIN, ...change } })];
      assert.equal(await why(gateway.reportVerificationFailures({ failures })), 'INVALID_REQUEST');
    }
  });
});
