import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { CreateOctResponseSchema } from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  CapturePreauthorizationResponseSchema,
  CreatePreauthorizationResponseSchema,
  HoldStatus,
  ReleasePreauthorizationResponseSchema,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../suite.ts';
import { CARD } from '../../sandbox/checkout/browse.ts';
import { openMerchant, openShop, payAt, type Shop, sql } from '../shop.ts';
import { openStage, refusal, why } from '../stage.ts';
import { storedKey } from '../stored-key.ts';

/** Returns a unique key, so that tests do not share one. */
const newKey = () => ({ idempotencyKey: randomUUID() });

describe('idempotency keys', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  const elsewhere = forSuite(() => openShop(stage, 'acme', 1));
  const everything = (merchantId: string) =>
    sql<{ id: string }>(
      stage,
      `select request_id::text as id from hold where merchant_id = $1
        union all select request_id::text from submission where merchant_id = $1`,
      [merchantId],
    );

  /**
   * Asserts that a repetition, here and at another core, returns the bytes of the first answer and is marked as
   * replayed.
   */
  async function repeats<S extends DescMessage>(
    schema: S,
    first: MessageShape<S> & { replayed: boolean },
    again: (shop: Shop) => Promise<MessageShape<S> & { replayed: boolean }>,
  ): Promise<void> {
    assert.equal(first.replayed, false);
    for (const each of [shop, elsewhere]) {
      const repeated = await again(each);
      assert.equal(repeated.replayed, true);
      const bytes = (message: MessageShape<S>) => Buffer.from(toBinary(schema, message)).toString('hex');
      assert.deepEqual({ ...repeated, replayed: false }, { ...first });
      assert.equal(bytes({ ...repeated, replayed: false }), bytes(first));
    }
  }

  /** Asserts that a refusal that created an operation is stored. */
  async function repeatsRefusal(word: string, call: (shop: Shop) => Promise<unknown>): Promise<void> {
    const { metadata, ...first } = await refusal(call(shop));
    assert.equal(first.reason, word);
    assert.match(metadata.requestId ?? '', /^[0-9a-f-]{36}$/);
    for (const each of [shop, elsewhere]) {
      const repeated = await refusal(call(each));
      assert.deepEqual(repeated, { ...first, metadata: { ...metadata, replayed: 'true' } });
    }
  }

  describe('with the same fields', () => {
    it('return the placed hold again, whatever has happened to it since', async () => {
      const fields = {
        ...newKey(),
        metadata: { order: '17', b: 'second', a: 'first', '10': 'ten', '9': 'nine' },
        merchantReference: 'order 17',
      };
      const first = await shop.place(fields);
      const hold = first.preauthorization ?? assert.fail();
      const again = () => repeats(CreatePreauthorizationResponseSchema, first, (each) => each.place(fields));
      await again();
      await shop.capture(hold, 4_000n);
      await again();
      await shop.release(hold);
      stage.clock.advance(3_600_000);
      await again();
      assert.equal(hold.status, HoldStatus.IN_PROGRESS);
    });

    it('return the open checkout again, also after it is paid and captured, and after it failed', async () => {
      for (const number of [CARD.number, '4000000000000119']) {
        const fields = { ...newKey(), saveCard: true };
        const first = await shop.checkout(fields);
        assert.equal(first.state, OperationState.PENDING);
        const again = () => repeats(CreatePreauthorizationResponseSchema, first, (each) => each.checkout(fields));
        await again();
        await payAt(first.preauthorization?.checkoutUrl ?? '', { number });
        await again();
        const hold = await shop.get(first.preauthorization ?? assert.fail());
        if (hold.preauthorizationId) await shop.capture(hold, 1_000n);
        await again();
      }
    });

    it('return the capture again, also when the hold has moved on and the capture was reversed', async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_reversed' });
      const key = newKey();
      const first = await shop.capture(hold, 4_000n, key);
      const again = () =>
        repeats(CapturePreauthorizationResponseSchema, first, (each) => each.capture(hold, 4_000n, key));
      await again();
      await shop.capture(hold, 1_000n, { finalCapture: true });
      stage.clock.advance(2_000);
      await stage.sandbox.reportDue();
      assert.equal((await shop.get(hold)).amountReversed, 5_000n);
      await again();
    });

    it('return the release again', async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_reversed' });
      await shop.capture(hold, 1_000n);
      const key = newKey();
      const first = await shop.release(hold, key);
      assert.equal(first.state, OperationState.OK);
      const again = () => repeats(ReleasePreauthorizationResponseSchema, first, (each) => each.release(hold, key));
      await again();
      stage.clock.advance(2_000);
      await stage.sandbox.reportDue();
      await again();
    });

    it('return the cancelled checkout again', async () => {
      const { preauthorization } = await shop.checkout();
      const key = newKey();
      const first = await shop.release(preauthorization ?? assert.fail(), key);
      assert.equal(first.preauthorization?.status, HoldStatus.FAILED);
      await repeats(ReleasePreauthorizationResponseSchema, first, (each) =>
        each.release(preauthorization ?? assert.fail(), key),
      );
    });

    it('return the OCT again', async () => {
      const fields = { ...newKey(), merchantReference: 'prize' };
      await repeats(CreateOctResponseSchema, await shop.oct(fields), (each) => each.oct(fields));
    });

    it('return the refusal that made a KO operation again', async () => {
      const keys = [newKey(), newKey(), newKey(), newKey()] as const;
      await repeatsRefusal('CARD_DECLINED', (at) => at.place({ ...keys[0], tokenId: 'tok_sandbox_declined' }));
      await repeatsRefusal('TOKEN_INVALID', (at) => at.place({ ...keys[1], tokenId: 'tok_sandbox_invalid' }));
      await repeatsRefusal('PROCESSOR_ERROR', (at) => at.oct({ ...keys[2], tokenId: 'tok_sandbox_processor_error' }));
      const hold = await shop.hold({ tokenId: 'tok_sandbox_capture_declined' });
      await repeatsRefusal('CARD_DECLINED', (at) => at.capture(hold, 1n, keys[3]));
    });

    it('return the unknown outcome until it is settled, and then its result', async () => {
      const fields = { ...newKey(), tokenId: 'tok_sandbox_timeout_applied' };
      const first = await shop.place(fields);
      assert.equal(first.state, OperationState.UNKNOWN);
      assert.equal(first.preauthorization?.preauthorizationId, '');
      const again = () => repeats(CreatePreauthorizationResponseSchema, first, (each) => each.place(fields));
      await again();
      stage.clock.advance(60_000);
      await again();
      await stage.inquire();
      const settled = await shop.place(fields);
      assert.deepEqual([settled.state, settled.replayed], [OperationState.OK, true]);
      assert.equal(settled.preauthorization?.requestId, first.preauthorization?.requestId);
      assert.match(settled.preauthorization?.preauthorizationId ?? '', /^pre_/);
    });

    it('return the result although the contract would refuse the call now', async () => {
      const changing = await openMerchant(stage, 'changing');
      const key = newKey();
      const hold = await changing.hold({ ...key, currency: 'USD' });
      const oct = await changing.oct({ idempotencyKey: `${key.idempotencyKey}-oct`, currency: 'USD' });
      const { merchants } = stage.channel('operator');
      const terms = { currencies: ['EUR'], terminals: ['T9'] };
      await merchants.updateMerchant({ merchantId: 'changing', name: 'x', contract: terms });
      const again = await changing.place({ ...key, currency: 'USD' });
      assert.deepEqual([again.replayed, again.preauthorization], [true, hold]);
      const octAgain = await changing.oct({ idempotencyKey: `${key.idempotencyKey}-oct`, currency: 'USD' });
      assert.deepEqual([octAgain.replayed, octAgain.oct], [true, oct.oct]);
      assert.equal(await why(changing.place({ ...newKey(), currency: 'USD' })), 'INVALID_REQUEST');
    });
  });

  it('name the same call whether a default is left out or given', async () => {
    const hold = await shop.hold();
    const [placed, captured, checkout] = [newKey(), newKey(), newKey()];
    const first = {
      hold: await shop.hold(placed),
      capture: (await shop.capture(hold, 100n, captured)).capture,
      checkout: (await shop.checkout(checkout)).preauthorization,
    };
    const spelledOut = { customerPresent: false, saveCard: false, metadata: {} };
    assert.equal((await shop.hold({ ...placed, ...spelledOut })).requestId, first.hold.requestId);
    const again = await shop.capture(hold, 100n, { ...captured, finalCapture: false });
    assert.equal(again.capture?.requestId, first.capture?.requestId);
    const opened = await shop.checkout({ ...checkout, ...spelledOut, customerPresent: true });
    assert.equal(opened.preauthorization?.requestId, first.checkout?.requestId);
    const other = newKey();
    const said = await shop.hold({ ...other, ...spelledOut });
    assert.equal((await shop.hold(other)).requestId, said.requestId);
    for (const call of [
      () => shop.place({ ...placed, customerPresent: true }),
      () => shop.place({ ...other, customerPresent: true }),
      () => shop.capture(hold, 100n, { ...captured, finalCapture: true }),
    ])
      assert.equal(await why(call()), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('are refused with other fields, another hold or another method', async () => {
    const key = newKey();
    const hold = await shop.hold(key);
    const other = await shop.hold();
    const reused = [
      () => shop.place({ ...key, amount: 10_001n }),
      () => shop.place({ ...key, userId: 'u2' }),
      () => shop.place({ ...key, metadata: { a: '1' } }),
      () => shop.checkout(key),
      () => shop.oct({ ...key, amount: 10_000n }),
      () => shop.capture(hold, 10_000n, key),
      () => shop.release(hold, key),
    ];
    for (const call of reused) assert.equal(await why(call()), 'IDEMPOTENCY_KEY_REUSED');
    const second = newKey();
    await shop.capture(hold, 1_000n, second);
    for (const call of [
      () => shop.capture(hold, 1_001n, second),
      () => shop.capture(hold, 1_000n, { ...second, finalCapture: true }),
      () => shop.capture(other, 1_000n, second),
    ]) {
      assert.equal(await why(call()), 'IDEMPOTENCY_KEY_REUSED');
    }
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
    assert.equal(await shop.books(other), 'IN_PROGRESS 0/0/10000/0/0');
  });

  describe('whatever it is', () => {
    const CARD = '4242424242424242';
    const kept = () => sql<{ key: string }>(stage, 'select key from claim where key is not null');

    it('is taken, also a card number, and stored as a hash only', async () => {
      const { preauthorization, replayed } = await shop.place({ idempotencyKey: CARD });
      assert.equal(replayed, false);
      const again = await shop.place({ idempotencyKey: CARD });
      assert.deepEqual([again.preauthorization?.requestId, again.replayed], [preauthorization?.requestId, true]);
      for (const { key } of await kept()) assert.match(key, /^sha256:[A-Za-z0-9+/]{43}=$/);
    });

    it('is found as the release before stored it', async () => {
      const fields = newKey();
      const first = await shop.hold(fields);
      await sql(stage, 'update claim set key = $1 where request_id = $2', [fields.idempotencyKey, first.requestId]);
      const again = await shop.place(fields);
      assert.deepEqual([again.preauthorization?.requestId, again.replayed], [first.requestId, true]);
      assert.equal(await why(shop.oct(fields)), 'IDEMPOTENCY_KEY_REUSED');
      assert.equal(await why(shop.place({ ...fields, amount: 1n })), 'IDEMPOTENCY_KEY_REUSED');
      await sql(stage, 'update claim set key = null where request_id = $1', [first.requestId]);
    });
  });

  it('are refused while the first call runs', async () => {
    const fields = { ...newKey(), tokenId: 'tok_sandbox_slow' };
    const running = shop.place(fields);
    while (
      (await sql(stage, 'select 1 from claim where key = $1', [storedKey(shop.merchantId, fields.idempotencyKey)]))
        .length === 0
    );
    assert.equal(await why(elsewhere.place(fields)), 'IDEMPOTENCY_IN_FLIGHT');
    assert.equal((await stage.soon(running)).state, OperationState.OK);
  });

  it('make one operation of fifty simultaneous calls, at whichever core', async () => {
    const crowd = await openMerchant(stage, 'crowd');
    const shops = [crowd, openShop(stage, 'crowd', 1)] as const;
    const fifty = async (call: (at: Shop) => Promise<unknown>) => {
      const before = (await everything('crowd')).length;
      const answers = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) => call(shops[index % 2] ?? crowd)),
      );
      const first = answers.filter(
        (each) => each.status === 'fulfilled' && !(each.value as { replayed: boolean }).replayed,
      );
      assert.equal(first.length, 1);
      for (const each of answers) {
        if (each.status === 'rejected') assert.equal(await why(Promise.reject(each.reason)), 'IDEMPOTENCY_IN_FLIGHT');
      }
      assert.equal((await everything('crowd')).length, before + 1);
    };
    const keys = [newKey(), newKey(), newKey(), newKey(), newKey()] as const;
    await fifty((at) => at.place(keys[0]));
    await fifty((at) => at.checkout(keys[1]));
    await fifty((at) => at.oct(keys[2]));
    const hold = await crowd.hold();
    await fifty((at) => at.capture(hold, 1_000n, keys[3]));
    await fifty((at) => at.release(hold, keys[4]));
    assert.equal(await crowd.books(hold), 'CAPTURED 1000/0/0/9000/0 RELEASED');
    assert.equal(stage.oracle.entries(hold.requestId).length, 3);
  });

  it('belong to one merchant', async () => {
    const other = await openMerchant(stage, 'other');
    const key = newKey();
    const mine = await shop.hold(key);
    const theirs = await other.hold({ ...key, amount: 5n });
    assert.notEqual(mine.requestId, theirs.requestId);
  });

  it('are free again after a refusal that created nothing', async () => {
    const key = newKey();
    assert.equal(await why(shop.place({ ...key, currency: 'EUX' })), 'INVALID_REQUEST');
    const hold = await shop.hold(key);
    const second = newKey();
    assert.equal(await why(shop.capture(hold, 10_001n, second)), 'AMOUNT_EXCEEDS_HOLD');
    await shop.capture(hold, 10n, second);
  });

  it("do not hide the hold's state from other calls when their own call has failed", async () => {
    const hold = await shop.hold();
    const key = newKey();
    await shop.capture(hold, 10_000n, key);
    assert.equal(await why(shop.capture(hold, 1n, newKey())), 'HOLD_CAPTURED');
    assert.equal((await shop.capture(hold, 10_000n, key)).replayed, true);
  });
});
