import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { refusal, useMortalStage, why } from '../../stage.ts';

const DAY_MS = 24 * 3_600 * 1_000;

describe('createRefund()', () => {
  const { stage, crash } = useMortalStage();
  const shop = forSuite(() => openMerchant(stage, 'several'));
  const sole = forSuite(() => openMerchant(stage, 'sole', { allowMultipleCaptures: false }));
  const booksOf = ({ holdRequestId: requestId }: { holdRequestId: string }) => shop.books({ requestId });
  const refundedThere = ({ requestId }: { requestId: string }) => stage.oracle.find(requestId)?.refunded;
  const asked = ({ holdRequestId }: { holdRequestId: string }) =>
    stage.oracle.entries(holdRequestId).filter(({ kind }) => kind === 'refund');
  const recover = async () => {
    stage.clock.advance(60_000);
    await stage.inquire();
  };
  const captureOf = async ({ requestId, holdRequestId }: { requestId: string; holdRequestId: string }) => {
    const { captures } = await shop.get({ requestId: holdRequestId });
    return captures.find((capture) => capture.requestId === requestId) ?? assert.fail();
  };

  describe('what it answers', () => {
    it('gives a part back, and shows it on the capture and the hold', async () => {
      const capture = await shop.captured(4_000n);
      const { refund = assert.fail(), replayed } = await shop.refund(capture, 1_500n);
      assert.equal(replayed, false);
      assert.equal(refund.state, OperationState.OK);
      assert.deepEqual([refund.amount, refund.amountRefunded], [1_500n, 1_500n]);
      assert.deepEqual([refund.currency, refund.merchantId], ['EUR', 'several']);
      assert.deepEqual([refund.captureRequestId, refund.holdRequestId], [capture.requestId, capture.holdRequestId]);
      assert.equal(Number(refund.finalStateDate?.seconds) * 1_000, stage.clock.now());
      assert.match(refund.bankReference, /^BNK/);
      assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 1500');
      assert.equal((await captureOf(capture)).amountRefunded, 1_500n);
      assert.equal(refundedThere(capture), 1_500);
      assert.deepEqual((await shop.getRefund(refund.requestId)).refund, refund);
    });

    it('gives back several times, at most the capture, and without an amount all that is left', async () => {
      const capture = await shop.captured(4_000n);
      for (const amount of [1_000n, 500n]) await shop.refund(capture, amount);
      const { reason, metadata } = await refusal(shop.refund(capture, 2_501n));
      assert.deepEqual(
        [reason, metadata.amountRemaining, metadata.currency],
        ['AMOUNT_EXCEEDS_CAPTURE', '2500', 'EUR'],
      );
      assert.equal((await shop.refund(capture)).refund?.amount, 2_500n);
      assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 4000');
      assert.equal(await why(shop.refund(capture)), 'AMOUNT_EXCEEDS_CAPTURE');
      assert.equal(await why(shop.refund(capture, 1n)), 'AMOUNT_EXCEEDS_CAPTURE');
      assert.deepEqual(await stage.audit(), []);
    });

    it('refunds captures of holds that are closed, expired, released, or over for a year', async () => {
      const closed = await sole.captured(4_000n);
      assert.equal((await sole.refund(closed, 1_000n)).refund?.state, OperationState.OK);
      assert.equal(
        await sole.books({ requestId: closed.holdRequestId }),
        'CAPTURED 4000/0/0/6000/0 FINAL refunded 1000',
      );
      const [expired, released] = [await shop.captured(4_000n), await shop.captured(4_000n)];
      await shop.release({ requestId: released.holdRequestId });
      stage.clock.advance(8 * DAY_MS);
      await stage.expire();
      assert.equal((await shop.refund(expired, 1_000n)).refund?.state, OperationState.OK);
      stage.clock.advance(365 * DAY_MS);
      assert.equal((await shop.refund(released, 1_000n)).refund?.state, OperationState.OK);
      assert.equal(await booksOf(expired), 'CAPTURED 4000/0/0/6000/0 EXPIRED refunded 1000');
      assert.equal(await booksOf(released), 'CAPTURED 4000/0/0/6000/0 RELEASED refunded 1000');
    });

    it('leaves what remains of an open hold to be captured', async () => {
      const hold = await shop.hold();
      const { capture = assert.fail() } = await shop.capture(hold, 4_000n);
      await shop.refund(capture);
      await shop.capture(hold, 6_000n);
      assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0 refunded 4000');
      assert.deepEqual(await stage.audit(), []);
    });

    it('notifies about it, done or not, under its own name', async () => {
      const told = await openMerchant(stage, 'told', { webhookUrl: 'https://told.example/hooks', notifyHolds: false });
      const capture = await told.captured(4_000n, { tokenId: 'tok_sandbox_ok', merchantReference: 'order-7' });
      const { refund = assert.fail() } = await told.refund(capture, 1_500n);
      const declining = await told.captured(4_000n, { tokenId: 'tok_sandbox_refund_declined' });
      const { metadata } = await refusal(told.refund(declining));
      const rows = await stage.database.query<{ statusInfo: string; body: string }>(
        {
          name: 'told',
          text: `select status_info, convert_from(body, 'UTF8') as body from delivery where request_id = any ($1)
            order by id`,
        },
        [[refund.requestId, metadata.requestId]],
      );
      assert.deepEqual(
        rows.map(({ statusInfo }) => statusInfo),
        ['refunded', 'declined'],
      );
      const [done, declined] = rows.map(({ body }) => JSON.parse(body));
      const { amount, operation, status, captureRequestId, holdRequestId, merchantReference } = done;
      assert.deepEqual([amount, operation, status, merchantReference], [1_500, 'REFUND', 'OK', 'order-7']);
      assert.deepEqual([captureRequestId, holdRequestId], [capture.requestId, capture.holdRequestId]);
      assert.deepEqual([declined.amount, declined.operation, declined.status], [4_000, 'REFUND', 'KO']);
    });

    it('makes one operation', async () => {
      const capture = await shop.captured(4_000n);
      const { refund = assert.fail() } = await shop.refund(capture, 1_500n);
      const { operation = assert.fail() } = await shop.operations.getOperation({
        merchantId: 'several',
        requestId: refund.requestId,
      });
      assert.deepEqual([operation.statusInfo, operation.amount], ['refunded', 1_500n]);
      assert.deepEqual(
        [operation.captureRequestId, operation.holdRequestId],
        [capture.requestId, capture.holdRequestId],
      );
      assert.deepEqual(await shop.results({ requestId: capture.holdRequestId }), [
        'authorized',
        'captured 4000',
        'refunded 1500',
      ]);
    });
  });

  describe('refusals, in their order', () => {
    it('knows no capture of another merchant, nor what is none', async () => {
      const capture = await sole.captured();
      const hold = await shop.hold();
      for (const requestId of [capture.requestId, hold.requestId, randomUUID(), uuidv7(), 'nonsense']) {
        const { status, reason } = await refusal(shop.refund({ requestId }, 1n));
        assert.deepEqual([status, reason], ['NOT_FOUND', 'CAPTURE_NOT_FOUND']);
      }
      assert.deepEqual(asked(capture), []);
    });

    it('refunds no more than the capture, whatever became of it', async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_capture_timeout_applied' });
      const { capture = assert.fail() } = await shop.capture(hold, 4_000n);
      assert.equal(await why(shop.refund(capture, 4_001n)), 'AMOUNT_EXCEEDS_CAPTURE');
      const { status, reason } = await refusal(shop.refund(capture, 4_000n));
      assert.deepEqual([status, reason], ['FAILED_PRECONDITION', 'CAPTURE_NOT_SETTLED']);
      await recover();
      assert.equal((await shop.refund(capture, 4_000n)).refund?.state, OperationState.OK);
    });

    it('refunds nothing of a capture that is KO', async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_capture_declined' });
      const { metadata } = await refusal(shop.capture(hold, 4_000n));
      const declined = { requestId: metadata.requestId ?? '' };
      for (const amount of [undefined, 1n]) {
        const { reason, metadata: told } = await refusal(shop.refund(declined, amount));
        assert.deepEqual([reason, told.amountRemaining], ['AMOUNT_EXCEEDS_CAPTURE', '0']);
      }
    });

    it('sends nothing that the authorization does not support, or of a frozen hold', async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_capture_only' });
      const { capture = assert.fail() } = await shop.capture(hold, 10_000n);
      assert.equal(await why(shop.refund(capture, 1n)), 'NOT_SUPPORTED');
      const frozen = await shop.captured();
      await stage.database.query({ name: 'freeze', text: 'update hold set frozen = true where request_id = $1' }, [
        frozen.holdRequestId,
      ]);
      assert.equal(await why(shop.refund(frozen, 1n)), 'HOLD_FROZEN');
      assert.deepEqual([...asked(capture), ...asked(frozen)], []);
    });
  });

  describe('outcomes', () => {
    const capturedWith = (behaviour: string) => shop.captured(4_000n, { tokenId: `tok_sandbox_refund_${behaviour}` });

    it('is KO when it is declined or not performed, and what it reserved is free again', async () => {
      for (const [behaviour, code, word] of [
        ['declined', 'CARD_DECLINED', 'declined'],
        ['error', 'PROCESSOR_ERROR', 'failed'],
      ] as const) {
        const capture = await capturedWith(behaviour);
        const { reason, metadata } = await refusal(shop.refund(capture, 4_000n));
        assert.equal(reason, code);
        const { operation } = await shop.operations.getOperation({
          merchantId: 'several',
          requestId: metadata.requestId ?? '',
        });
        assert.deepEqual([operation?.statusInfo, operation?.amount], [word, 4_000n]);
        assert.equal(await why(shop.refund(capture, 4_000n)), code);
        assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
      }
    });

    for (const [behaviour, books] of [
      ['timeout_applied', 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 3000'],
      ['timeout_lost', 'PARTIALLY_CAPTURED 4000/0/6000/0/0'],
    ] as const) {
      it(`reserves its amount while its outcome is unknown (${behaviour})`, async () => {
        const capture = await capturedWith(behaviour);
        const { refund } = await shop.refund(capture, 3_000n);
        assert.deepEqual([refund?.state, refund?.amountRefunded], [OperationState.UNKNOWN, 0n]);
        assert.equal(await why(shop.refund(capture, 1_001n)), 'CAPTURE_NOT_SETTLED');
        assert.equal(await why(shop.refund(capture, 4_001n)), 'AMOUNT_EXCEEDS_CAPTURE');
        assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
        await recover();
        assert.equal(await booksOf(capture), books);
        assert.deepEqual(await stage.audit(), []);
      });
    }

    it('waits for days for what the processor has accepted, and is no trouble meanwhile', async () => {
      const capture = await capturedWith('accepted');
      const { refund } = await shop.refund(capture, 3_000n);
      assert.equal(refund?.state, OperationState.UNKNOWN);
      const [row] = await stage.database.query<{ expectedBy: Date | null }>(
        { name: 'expected', text: 'select expected_by from submission where request_id = $1' },
        [refund.requestId],
      );
      assert(row?.expectedBy, 'it says until when that is normal');
      stage.clock.advance(11_000);
      await recover();
      assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 3000');
    });

    it('is never sent under another identifier', async () => {
      const capture = await capturedWith('timeout_lost');
      await shop.refund(capture, 3_000n);
      await recover();
      await recover();
      assert.deepEqual(
        asked(capture).map(({ kind }) => kind),
        [],
      );
    });
  });

  describe('keys', () => {
    it('returns the first answer, whatever was refunded or reversed since', async () => {
      const capture = await shop.captured(4_000n);
      const fields = { idempotencyKey: 'refund-once' };
      const first = await shop.refund(capture, undefined, fields);
      const again = await shop.refund(capture, undefined, fields);
      assert.deepEqual(again, { ...first, replayed: true });
      assert.equal(await why(shop.refund(capture, 4_000n, fields)), 'IDEMPOTENCY_KEY_REUSED');
      assert.equal(await why(shop.refund(await shop.captured(), undefined, fields)), 'IDEMPOTENCY_KEY_REUSED');
      assert.equal(refundedThere(capture), 4_000);
    });

    it('stores a named call once', async () => {
      const capture = await shop.captured(4_000n);
      const fields = { operationRequestId: uuidv7() };
      const answers = await Promise.all(
        [1, 2, 3].map(() => shop.refund(capture, 1_000n, fields).catch((error) => error)),
      );
      assert(answers.some((answer) => answer.refund?.state === OperationState.OK));
      assert.equal((await shop.refund(capture, 1_000n, fields)).refund?.requestId, fields.operationRequestId);
      assert.equal(await why(shop.refund(capture, 999n, fields)), 'INVALID_REQUEST');
      assert.equal(refundedThere(capture), 1_000);
    });

    it('keeps the first answers to a capture and a release', async () => {
      const hold = await shop.hold();
      const { capture = assert.fail() } = await shop.capture(hold, 4_000n, { idempotencyKey: 'captured' });
      await shop.refund(capture, 1_000n);
      const release = await shop.release(hold, { idempotencyKey: 'released' });
      assert.equal(release.preauthorization?.amountRefunded, 1_000n);
      await shop.refund(capture, 2_000n);
      assert.deepEqual((await shop.capture(hold, 4_000n, { idempotencyKey: 'captured' })).capture, capture);
      const again = await shop.release(hold, { idempotencyKey: 'released' });
      assert.deepEqual(again, { ...release, replayed: true });
    });
  });

  it('never gives back more than the capture, however many ask at once', async () => {
    const capture = await shop.captured(4_000n);
    const asking = Array.from({ length: 12 }, () => shop.refund(capture, 1_000n));
    const answers = await Promise.allSettled(asking);
    const done = answers.filter(({ status }) => status === 'fulfilled').length;
    assert(done <= 4);
    while ((refundedThere(capture) ?? 0) < 4_000) await shop.refund(capture, 1_000n);
    assert.equal(await why(shop.refund(capture, 1n)), 'AMOUNT_EXCEEDS_CAPTURE');
    assert.equal(await booksOf(capture), 'PARTIALLY_CAPTURED 4000/0/6000/0/0 refunded 4000');
    assert.deepEqual(await stage.audit(), []);
  });

  it('stays reserved when core dies before it has sent it', async () => {
    const capture = await shop.captured(4_000n);
    crash.at = 'refund stored';
    assert.equal((await shop.refund(capture, 3_000n)).refund?.state, OperationState.UNKNOWN);
    assert.equal(await why(shop.refund(capture, 3_000n)), 'CAPTURE_NOT_SETTLED');
    await recover();
    assert.equal((await shop.refund(capture, 3_000n)).refund?.state, OperationState.OK);
  });

  it('lets an operator refund for any merchant', async () => {
    const capture = await shop.captured(4_000n);
    const operator = stage.channel('operator');
    const { refund } = await operator.refunds.createRefund({ captureRequestId: capture.requestId, amount: 1n });
    assert.equal(refund?.merchantId, 'several');
    const internal = stage.channel('internal');
    assert.equal(await why(internal.refunds.createRefund({ captureRequestId: capture.requestId })), 'INVALID_REQUEST');
  });
});
