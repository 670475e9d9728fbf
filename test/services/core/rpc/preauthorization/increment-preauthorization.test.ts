import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import { CapabilitiesSchema } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined, neverSeen, notPerformed } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';
import { refusal, why } from '../../stage.ts';

const able = (but: object) =>
  create(CapabilitiesSchema, { severalCaptures: true, increments: true, extension: true, refunds: true, ...but });

describe('incrementPreauthorization()', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));
  const drifts = () => scripted.stage.audit('own books');
  const expireAll = async () => {
    scripted.stage.clock.advance(8 * 24 * 3_600_000);
    await scripted.stage.expire();
  };
  /** An increment whose answer is lost; `end` settles it. */
  const lost = async (hold: { preauthorizationId: string }, amount = 2_000n) => {
    processor.says.incrementAuthorization = () => undefined;
    const { requestId, state } = await shop.increment(hold, amount);
    assert.equal(state, OperationState.UNKNOWN);
    return { requestId, end: (result: typeof approved) => scripted.settled(requestId, result) };
  };

  it('adds to the hold, notifies and answers with the hold right after it', async () => {
    const hold = await shop.hold();
    const { preauthorization, requestId, state } = await shop.increment(hold, 2_000n);
    assert.equal(state, OperationState.OK);
    assert.deepEqual([preauthorization?.amount, preauthorization?.amountRemaining], [12_000n, 12_000n]);
    assert.deepEqual(preauthorization?.expiresAt, hold.expiresAt);
    assert.deepEqual(await shop.results(hold), ['authorized', 'incremented 2000']);
    const [notified] = await scripted.notificationsOf(hold);
    assert.equal(notified?.word, 'incremented');
    const { status, amount, operation, holdRequestId } = notified.body;
    assert.deepEqual([status, amount, operation, holdRequestId], ['OK', 2_000, 'INCREMENT', hold.requestId]);
    assert.equal(await scripted.countOf(requestId), 1);
    await shop.capture(hold, 12_000n, { finalCapture: true });
    assert.equal(await shop.books(hold), 'CAPTURED 12000/0/0/0/0');
    assert.deepEqual(await drifts(), []);
  });

  it('sends what the contract with processors asks for', async () => {
    const hold = await shop.hold();
    let asked: object = {};
    processor.says.incrementAuthorization = (request) => {
      asked = request;
      return approved;
    };
    const { requestId } = await shop.increment(hold, 5n);
    const { $typeName: _, ...fields } = asked as Record<string, unknown>;
    assert.deepEqual(fields, {
      requestId,
      operationRequestId: requestId,
      authorizationRequestId: hold.requestId,
      authorizationReference: hold.processorReference,
      merchantId: 'told',
      account: '',
      amount: 5n,
      merchantReference: '',
      currency: 'EUR',
    });
  });

  it('answers a repetition as first answered, and refuses other fields, whatever became of the hold', async () => {
    const hold = await shop.hold();
    const key = { idempotencyKey: randomUUID() };
    const name = { operationRequestId: uuidv7() };
    const first = await shop.increment(hold, 2_000n, key);
    const named = await shop.increment(hold, 500n, name);
    await shop.capture(hold, 4_000n);
    await shop.release(hold);
    assert.deepEqual(await shop.increment(hold, 2_000n, key), { ...first, replayed: true });
    assert.deepEqual(await shop.increment(hold, 500n, name), named);
    assert.equal(await why(shop.increment(hold, 2_001n, key)), 'IDEMPOTENCY_KEY_REUSED');
    assert.equal(await why(shop.increment(hold, 501n, name)), 'INVALID_REQUEST');
    assert.equal(await why(shop.extend(hold, name)), 'INVALID_REQUEST');
  });

  it('leaves what the hold was asked for: the call that placed it gets its first answer', async () => {
    const key = { idempotencyKey: randomUUID() };
    const name = { operationRequestId: uuidv7() };
    for (const fields of [key, name]) {
      const first = await shop.place(fields);
      const hold = first.preauthorization ?? assert.fail();
      const end = timestampFromMs(scripted.stage.clock.now() + 20 * 24 * 3_600_000);
      processor.says.extendAuthorization = () => ({ ...approved, expiresAt: end });
      scripted.stage.clock.advance(1_000);
      await shop.increment(hold, 2_000n);
      await shop.extend(hold);
      const replayed = 'idempotencyKey' in fields;
      assert.deepEqual(await shop.place(fields), { ...first, replayed });
      assert.equal((await shop.get(hold)).amount, 12_000n);
    }
  });

  it('changes nothing when the processor refuses, and says why', async () => {
    for (const [no, word] of [
      [declined, 'CARD_DECLINED'],
      [notPerformed('closed_for_today'), 'PROCESSOR_ERROR'],
      [notPerformed('not_supported'), 'NOT_SUPPORTED'],
    ] as const) {
      const hold = await shop.hold();
      processor.says.incrementAuthorization = () => no;
      const key = { idempotencyKey: `increment-${word}` };
      const first = await refusal(shop.increment(hold, 2_000n, key));
      assert.equal(first.reason, word);
      assert.match(first.metadata.requestId ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      assert.equal((await shop.get(hold)).amount, 10_000n);
      assert.equal((await refusal(shop.increment(hold, 2_000n, key))).metadata.replayed, 'true');
    }
    assert.deepEqual(await drifts(), []);
  });

  it('can be asked for again once it has a result', async () => {
    const hold = await shop.hold();
    for (const amount of [1n, 2n]) await shop.increment(hold, amount);
    assert.equal((await shop.get(hold)).amount, 10_003n);
  });

  describe('is refused, and nothing is stored or sent', () => {
    const refused = async (word: string, call: () => Promise<unknown>) => {
      const count = async () =>
        (await sql<{ n: number }>(scripted.stage, 'select count(*)::int as n from submission'))[0];
      const before = await count();
      processor.heard.length = 0;
      assert.equal(await why(call()), word);
      assert.deepEqual(await count(), before);
      assert.deepEqual(processor.heard, []);
    };

    it('over the bound of amounts, in any state', async () => {
      const hold = await shop.hold();
      await shop.release(hold);
      await refused('AMOUNT_TOO_LARGE', () => shop.increment(hold, 999_999_990_000n));
      await refused('HOLD_RELEASED', () => shop.increment(hold, 999_999_989_999n));
    });

    it('of a hold that is not placed, has ended, or was captured', async () => {
      processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1' });
      const checkout = (await shop.checkout()).preauthorization ?? assert.fail();
      const { holds } = scripted.stage.channel('operator');
      const ofCheckout = { requestId: checkout.requestId, amountToAdd: 1n };
      await refused('HOLD_NOT_PLACED', () => holds.incrementPreauthorization(ofCheckout));
      const [captured, expired] = [await shop.hold(), await shop.hold()];
      await shop.capture(captured, 1n, { finalCapture: true });
      await refused('HOLD_CAPTURED', () => shop.increment(captured, 1n));
      scripted.stage.clock.advance(8 * 24 * 3_600_000);
      await refused('HOLD_EXPIRED', () => shop.increment(expired, 1n));
    });

    it("of no hold, another merchant's, a malformed one, or named by its requestId", async () => {
      const other = await openMerchant(scripted.stage, `other-${randomUUID().slice(0, 8)}`);
      const hold = await shop.hold();
      await refused('PREAUTHORIZATION_NOT_FOUND', () => other.increment(hold, 1n));
      await refused('PREAUTHORIZATION_NOT_FOUND', () => shop.increment({ preauthorizationId: 'pre_no' }, 1n));
      const { holds } = scripted.stage.channel('gateway');
      const byRequestId = { merchantId: 'told', requestId: hold.requestId, amountToAdd: 1n };
      await refused('FORBIDDEN', () => holds.incrementPreauthorization(byRequestId));
      await refused('INVALID_REQUEST', () => shop.increment(hold, 0n));
    });

    it('when this authorization cannot do it', async () => {
      processor.says.authorize = () => ({ ...approved, capabilities: able({ increments: false }) });
      const hold = await shop.hold();
      await refused('NOT_SUPPORTED', () => shop.increment(hold, 1n));
    });

    it('while it is frozen', async () => {
      const hold = await shop.hold();
      await sql(scripted.stage, 'update hold set frozen = true where request_id = $1', [hold.requestId]);
      await refused('HOLD_FROZEN', () => shop.increment(hold, 1n));
    });

    it('while another increment, a release or a final capture is open, or captures may take it all', async () => {
      const lose = () => undefined;
      const holds = await Promise.all([1, 2, 3, 4].map(() => shop.hold()));
      const [incremented, released, final, taken] = holds as [(typeof holds)[0], ...typeof holds];
      await lost(incremented);
      processor.says.void = lose;
      processor.says.capture = lose;
      await shop.release(released ?? assert.fail());
      await shop.capture(final ?? assert.fail(), 1n, { finalCapture: true });
      await shop.capture(taken ?? assert.fail(), 10_000n);
      for (const hold of holds) await refused('CAPTURE_IN_FLIGHT', () => shop.increment(hold, 1n));
      await refused('CAPTURE_IN_FLIGHT', () => shop.extend(incremented));
    });
  });

  describe('while its outcome is unknown', () => {
    it('cannot be captured, but what was there before can, in part', async () => {
      const hold = await shop.hold();
      const { end } = await lost(hold);
      assert.equal(await why(shop.capture(hold, 10_001n)), 'AMOUNT_EXCEEDS_HOLD');
      await shop.capture(hold, 10_000n);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 10000/0/0/0/0');
      assert.deepEqual(await drifts(), []);
      await end(approved);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 10000/0/2000/0/0');
      await shop.capture(hold, 2_000n);
      assert.equal(await shop.books(hold), 'CAPTURED 12000/0/0/0/0');
      assert.deepEqual(await drifts(), []);
    });

    it('closes the hold when it adds nothing to one that was captured in full meanwhile', async () => {
      const hold = await shop.hold();
      const { end } = await lost(hold);
      await shop.capture(hold, 10_000n);
      await end(declined);
      assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
      assert.deepEqual(await shop.results(hold), ['authorized', 'captured 10000', 'declined 2000']);
      assert.deepEqual(await drifts(), []);
    });

    it('keeps the hold from being closed by a capture or a release', async () => {
      const hold = await shop.hold();
      const { end } = await lost(hold);
      assert.equal(await why(shop.capture(hold, 1n, { finalCapture: true })), 'CAPTURE_IN_FLIGHT');
      assert.equal(await why(shop.release(hold)), 'CAPTURE_IN_FLIGHT');
      await end(approved);
      await shop.release(hold);
      assert.equal(await shop.books(hold), 'RELEASED 0/0/0/12000/0 RELEASED');
      assert.deepEqual(await drifts(), []);
    });

    it('keeps the hold from expiring; it expires once the result is there', async () => {
      for (const [result, books] of [
        [approved, 'EXPIRED 0/0/0/12000/0 EXPIRED'],
        [declined, 'EXPIRED 0/0/0/10000/0 EXPIRED'],
      ] as const) {
        const hold = await shop.hold();
        const { end } = await lost(hold);
        await expireAll();
        assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
        assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_EXPIRED');
        await end(result);
        await scripted.stage.expire();
        assert.equal(await shop.books(hold), books);
      }
      assert.deepEqual(await drifts(), []);
    });

    it('is KO when the processor never received it, and may be asked for again', async () => {
      const hold = await shop.hold();
      await lost(hold);
      processor.says.inquire = () => neverSeen;
      await scripted.inquireLater();
      assert.deepEqual(await shop.results(hold), ['authorized', 'failed 2000']);
      processor.says.incrementAuthorization = () => approved;
      await shop.increment(hold, 3n);
      assert.equal((await shop.get(hold)).amount, 10_003n);
    });

    it('may be done or not when the processor ends the authorization by itself', async () => {
      for (const amount of [10_000n, 12_000n]) {
        const hold = await shop.hold();
        const { end } = await lost(hold);
        const { requestId } = hold;
        await scripted.report({ case: 'authorizationEnded', value: { requestId, end: 1, amount, reference: 'r' } });
        assert.equal((await shop.get(hold)).frozen, false);
        await end(amount === 12_000n ? approved : declined);
        await scripted.stage.expire();
        assert.equal(await shop.books(hold), `EXPIRED 0/0/0/${amount}/0 EXPIRED`);
      }
      assert.deepEqual(await drifts(), []);
    });
  });

  it('of a hold that a capture has closed unasked meanwhile is given back with the rest', async () => {
    const hold = await shop.hold();
    const { end } = await lost(hold);
    processor.says.capture = () => ({ ...approved, amountReleased: 8_000n });
    await shop.capture(hold, 4_000n);
    await end(approved);
    assert.equal(await shop.books(hold), 'CAPTURED 4000/0/0/8000/0 FINAL');
    assert.deepEqual(await drifts(), []);
  });

  it('freezes the hold when a later result contradicts the first', async () => {
    const hold = await shop.hold();
    const { requestId } = await shop.increment(hold, 2_000n);
    await scripted.settled(requestId, declined);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/12000/0/0 frozen');
  });

  it('lets the hold end earlier when the processor says so, and takes what the authorization can do now', async () => {
    const hold = await shop.hold();
    const now = scripted.stage.clock.now();
    const [soon, late] = [timestampFromMs(now + 3_600_000), timestampFromMs(now + 30 * 24 * 3_600_000)];
    processor.says.incrementAuthorization = () => ({ ...approved, expiresAt: late });
    assert.deepEqual((await shop.increment(hold, 1n)).preauthorization?.expiresAt, hold.expiresAt);
    const capabilities = able({ increments: false });
    processor.says.incrementAuthorization = () => ({ ...approved, expiresAt: soon, capabilities });
    assert.deepEqual((await shop.increment(hold, 1n)).preauthorization?.expiresAt?.seconds, soon.seconds);
    assert.equal(await why(shop.increment(hold, 1n)), 'NOT_SUPPORTED');
  });
});
