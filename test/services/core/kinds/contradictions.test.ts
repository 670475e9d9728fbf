/** What a processor says against what was asked, told or kept: never booked as asked, and kept for an operator. */
import assert from 'node:assert/strict';
import { v7 as uuidv7 } from 'uuid';
import { AuthorizationEnd } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import {
  ContradictionKind,
  ContradictionSource,
  OperatorService,
  ReviewReason,
} from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { FrozenBecause } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../suite.ts';
import { approved, declined, done } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { openMerchant, sql } from '../shop.ts';
import { refusal, why } from '../stage.ts';

const { OK, KO, UNKNOWN, NEEDS_REVIEW } = OperationState;

describe('a contradiction', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));
  const operators = forSuite(async () => scripted.stage.client('operator', OperatorService));

  const drifts = () => scripted.stage.audit('own books');
  const told = async (hold: { requestId: string }) =>
    (await scripted.notificationsOf(hold)).map(({ word, body }) => `${word} ${body.status} ${body.amount}`);

  /** What is kept about an operation or a hold, oldest first, in one line each. */
  async function kept(requestId: string): Promise<string[]> {
    const { contradictions } = await operators.listContradictions({ requestId });
    return contradictions.toReversed().map((one) => {
      const { kind, source, toldAmount, keptAmount, resolvedBy, resolution } = one;
      const said = `${ContradictionKind[kind]} by ${ContradictionSource[source]}: ${one.told} ${toldAmount ?? '-'}`;
      const resolved = resolvedBy === '' ? '' : `, ${resolvedBy}: ${resolution}`;
      return `${said}, ${one.kept} ${keptAmount ?? '-'}${resolved}`;
    });
  }

  const itemOf = async (requestId: string) =>
    (await operators.listReviewItems({ merchantId: 'told', pageSize: 200 })).items.find(
      (item) => item.requestId === requestId,
    );

  describe('in an amount that was done', () => {
    it('is not booked as asked: the capture waits for an operator, the hold is frozen', async () => {
      const hold = await shop.hold();
      processor.says.capture = () => ({ ...approved, amount: 6_000n });
      const { capture } = await shop.capture(hold, 10_000n);
      assert.equal(capture?.state, UNKNOWN);
      const { requestId = '' } = capture ?? {};
      assert.equal(
        (await shop.operations.getOperation({ merchantId: 'told', requestId })).operation?.state,
        NEEDS_REVIEW,
      );
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/10000/0/0/0 frozen');
      const line = 'AMOUNT by ANSWER: APPROVED 6000, ASKED 10000';
      assert.deepEqual([await kept(requestId), await kept(hold.requestId)], [[line], [line]]);
      const item = await itemOf(requestId);
      assert.equal(item?.reason, ReviewReason.NEEDS_REVIEW);
      assert.equal(item.contradictions[0]?.toldAmount, 6_000n);
      assert.deepEqual(await told(hold), []);
      // What the operator has learned is believed, though the processor says the same again.
      processor.says.inquire = () => done({ ...approved, amount: 6_000n });
      await operators.resolveOperation({ requestId, outcome: KO, reason: 'refunded there', unfreezeHold: true });
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      assert.deepEqual(await kept(requestId), [`${line}, operator: refunded there`]);
      assert.equal(await itemOf(requestId), undefined);
      assert.deepEqual(await drifts(), []);
    });

    it('of an increment, a refund and an OCT, too, by an answer, an inquiry or an event', async () => {
      const hold = await shop.hold();
      processor.says.incrementAuthorization = () => ({ ...approved, amount: 10n });
      await shop.increment(hold, 100n);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
      const captured = await shop.captured();
      processor.says.refund = () => undefined;
      const { refund } = await shop.refund(captured, 500n);
      await scripted.settled(refund?.requestId ?? '', { ...approved, amount: 400n });
      assert.equal((await shop.getRefund(refund?.requestId ?? '')).refund?.state, NEEDS_REVIEW);
      processor.says.credit = () => undefined;
      const { oct } = await shop.oct();
      processor.says.inquire = () => done({ ...approved, amount: 70n });
      await scripted.inquireLater();
      const { requestId = '' } = oct ?? {};
      assert.equal((await shop.getOct(requestId)).oct?.state, NEEDS_REVIEW);
      assert.deepEqual(await kept(requestId), ['AMOUNT by INQUIRY: APPROVED 70, ASKED 700']);
      await operators.resolveOperation({ requestId, outcome: OK, reason: 'paid in two parts' });
      assert.deepEqual(await kept(requestId), [
        'AMOUNT by INQUIRY: APPROVED 70, ASKED 700, operator: paid in two parts',
      ]);
      assert.deepEqual(await drifts(), []);
    });

    it('of a hold is given back when an operator says that it is not placed', async () => {
      processor.says.authorize = () => ({ ...approved, amount: 6_000n });
      const { preauthorization: hold = assert.fail(), state } = await shop.place();
      assert.equal(state, UNKNOWN);
      const { requestId } = hold;
      assert.equal((await itemOf(requestId))?.reason, ReviewReason.NEEDS_REVIEW);
      processor.says.inquire = () => done({ ...approved, amount: 6_000n });
      await operators.resolveOperation({ requestId, outcome: KO, reason: 'too little' });
      assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
      await scripted.inquireLater();
      assert.equal(processor.heard.filter(({ method }) => method === 'void').length, 1);
      assert.equal(await itemOf(requestId), undefined);
    });

    it('is no contradiction when it is what was asked for', async () => {
      processor.says.capture = ({ amount }) => ({ ...approved, amount });
      const { holdRequestId } = await shop.captured(4_000n);
      assert.deepEqual(await kept(holdRequestId), []);
    });
  });

  describe('in an amount that was given back', () => {
    it('by a final capture leaves what is missing, and freezes the hold, as a void does', async () => {
      const hold = await shop.hold();
      processor.says.capture = () => ({ ...approved, amountReleased: 1_000n });
      const { capture } = await shop.capture(hold, 4_000n, { finalCapture: true });
      assert.deepEqual([capture?.state, capture?.amountReleased, capture?.amountRemaining], [OK, 1_000n, 5_000n]);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/5000/1000/0 frozen');
      const line = 'AMOUNT_RELEASED by ANSWER: AMOUNT_RELEASED 1000, REMAINING 6000';
      assert.deepEqual(await kept(hold.requestId), [line]);
      const { metadata } = await refusal(shop.capture(hold, 1n));
      assert.equal(metadata.frozenBecause, 'UNKNOWN_CHARGE');
      assert.deepEqual(await drifts(), []);
    });

    it('by a capture that was not final neither closes the hold nor is forgotten', async () => {
      const hold = await shop.hold();
      processor.says.capture = () => ({ ...approved, amountReleased: 1_000n });
      await shop.capture(hold, 4_000n);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/5000/1000/0 frozen');
      const whole = await shop.hold();
      processor.says.capture = () => ({ ...approved, amountReleased: 6_000n });
      await shop.capture(whole, 4_000n);
      assert.equal(await shop.books(whole), 'CAPTURED 4000/0/0/6000/0 FINAL');
      assert.deepEqual(await drifts(), []);
    });

    it('by an expiry tells nobody that it has expired; imported or not, it can be ended then', async () => {
      const hold = await shop.hold();
      await sql(scripted.stage, 'update hold set expires_at = $2 where request_id = $1', [
        hold.requestId,
        new Date(scripted.stage.clock.now()),
      ]);
      processor.says.void = () => ({ ...approved, amountReleased: 6_000n });
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/4000/6000/0 frozen');
      assert.deepEqual(await told(hold), []);
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/4000/6000/0 frozen');
      assert.deepEqual(await drifts(), []);
      const { requestId } = hold;
      await operators.resolveOperation({ requestId, unfreezeHold: true, reason: 'they gave it back' });
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
      assert.deepEqual(await told(hold), ['expired KO 10000']);
      assert.deepEqual(await drifts(), []);
    });
  });

  describe('of a result', () => {
    it('of an OCT is listed for an operator, who acknowledges it', async () => {
      processor.says.credit = () => declined;
      const { metadata } = await refusal(shop.oct());
      const { requestId = '' } = metadata;
      for (let times = 0; times < 2; times++) await scripted.settled(requestId, approved, `oct-${times}`);
      const line = 'RESULT by EVENT: APPROVED 700, KO -';
      assert.deepEqual(await kept(requestId), [line]);
      const item = await itemOf(requestId);
      assert.deepEqual([item?.reason, item?.contradictions[0]?.eventId], [ReviewReason.CONTRADICTED, 'oct-0']);
      assert.equal((await operators.getOverview({})).openContradictionCount > 0, true);
      assert.equal((await operators.acknowledgeContradictions({ requestId, reason: 'their mistake' })).acknowledged, 1);
      assert.deepEqual(await kept(requestId), [`${line}, operator: their mistake`]);
      assert.equal(await itemOf(requestId), undefined);
      const again = operators.acknowledgeContradictions({ requestId, reason: 'again' });
      assert.equal(await why(again), 'OPERATION_NOT_FOUND');
    });

    it('of a capture that was told as failed and was done keeps the hold from ending', async () => {
      const hold = await shop.hold();
      processor.says.capture = () => declined;
      const { metadata } = await refusal(shop.capture(hold, 4_000n));
      const { requestId = '' } = metadata;
      await scripted.settled(requestId, approved);
      assert.deepEqual(await kept(hold.requestId), ['RESULT by EVENT: APPROVED 4000, KO -']);
      const { metadata: why1 } = await refusal(shop.release(hold));
      assert.equal(why1.frozenBecause, 'UNKNOWN_CHARGE');
      assert.equal((await shop.get(hold)).frozenBecause, FrozenBecause.UNKNOWN_CHARGE);
      const acknowledged = operators.acknowledgeContradictions({ requestId, reason: 'seen' });
      assert.equal(await why(acknowledged), 'INVALID_REQUEST');
    });
  });

  describe('of an event that is refused for good', () => {
    const reversed = (captureRequestId: string, amount: bigint, eventId?: string) =>
      scripted.report({ case: 'captureReversed', value: { captureRequestId, amount, reference: 'r' } }, eventId);

    it('is kept once, also about an identifier that nothing here has, until it is accepted', async () => {
      const { requestId } = await shop.captured(4_000n);
      for (let times = 0; times < 2; times++) {
        assert.equal(await why(reversed(requestId, 4_001n, 'too-much')), 'INVALID_REQUEST');
      }
      assert.deepEqual(await kept(requestId), ['EVENT_REFUSED by EVENT: CAPTURE_REVERSED 4001, INVALID_REQUEST -']);
      assert.equal((await itemOf(requestId))?.reason, ReviewReason.CONTRADICTED);
      const unknown = uuidv7();
      assert.equal(await why(reversed(unknown, 1n, 'unknown')), 'OPERATION_NOT_FOUND');
      const { items } = await operators.listReviewItems({ reason: ReviewReason.CONTRADICTED, pageSize: 200 });
      const item = items.find((one) => one.requestId === unknown);
      assert.deepEqual([item?.merchantId, item?.kind, item?.contradictions[0]?.eventId], ['', 0, 'unknown']);
      await reversed(requestId, 4_000n, 'too-much');
      assert.match((await kept(requestId))[0] ?? '', /, core: the event was accepted later$/);
    });

    it('is kept when two events have one name', async () => {
      const { requestId } = await shop.captured(4_000n);
      await reversed(requestId, 100n, 'one-name');
      assert.equal(await why(reversed(requestId, 200n, 'one-name')), 'IDEMPOTENCY_KEY_REUSED');
      assert.deepEqual(await kept(requestId), ['EVENT_ID_REUSED by EVENT: ANOTHER_EVENT -, EVENT -']);
    });
  });

  describe('by a charge of somebody else', () => {
    const charged = (hold: { requestId: string }, amount: bigint, captureRequestId = uuidv7()) =>
      scripted.report({
        case: 'foreignCapture',
        value: { authorizationRequestId: hold.requestId, captureRequestId, amount, reference: 'ch' },
      });
    const ended = ({ requestId }: { requestId: string }, amount: bigint) =>
      scripted.report({
        case: 'authorizationEnded',
        value: { requestId, end: AuthorizationEnd.VOIDED, amount, reference: 'end' },
      });

    for (const [what, events] of [
      ['then the end', [charged, ended]],
      ['after the end', [ended, charged]],
    ] as const) {
      for (const [amount, left] of [
        [10_000n, 0n],
        [4_000n, 6_000n],
      ] as const) {
        it(`${what}, ${amount} of 10000, is told as nothing given back before an operator has looked`, async () => {
          const hold = await shop.hold();
          for (const event of events) await event(hold, event === charged ? amount : left);
          await scripted.stage.expire();
          assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
          assert.deepEqual(await told(hold), []);
          for (const call of [shop.capture(hold, 1n), shop.release(hold)]) {
            const { reason, metadata } = await refusal(call);
            assert.deepEqual([reason, metadata.frozenBecause], ['HOLD_FROZEN', 'UNKNOWN_CHARGE']);
          }
          const { requestId } = hold;
          await operators.resolveOperation({ requestId, unfreezeHold: true, reason: 'a test of theirs' });
          await scripted.stage.expire();
          assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
          assert.deepEqual(await told(hold), [`released OK ${left}`]);
          assert.deepEqual(await drifts(), []);
        });
      }
    }

    it('waits as well when only the end is known, and when the period is over', async () => {
      const hold = await shop.hold();
      await ended(hold, 4_000n);
      const over = await shop.hold();
      await charged(over, 4_000n);
      await sql(scripted.stage, 'update hold set expires_at = $2 where request_id = $1', [
        over.requestId,
        new Date(scripted.stage.clock.now()),
      ]);
      await scripted.stage.expire();
      for (const each of [hold, over]) {
        assert.equal(await shop.books(each), 'IN_PROGRESS 0/0/10000/0/0 frozen');
        assert.equal(await why(shop.release(each)), 'HOLD_FROZEN');
        assert.deepEqual(await told(each), []);
      }
    });
  });
});
