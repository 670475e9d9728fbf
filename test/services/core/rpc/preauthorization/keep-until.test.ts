import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Preauthorization } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../../suite.ts';
import { accepted, approved, declined, done } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';
import { refusal, why } from '../../stage.ts';

const DAY_MS = 24 * 3_600_000;

describe('keep_until', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'keeps'));
  const inDays = (days: number) => timestampFromMs(scripted.stage.clock.now() + days * DAY_MS);
  const update = ({ requestId }: { requestId: string }, change: object, paths = ['keep_until']) =>
    scripted.stage
      .channel('gateway')
      .holds.updatePreauthorization({ merchantId: 'keeps', requestId, ...change, updateMask: { paths } });
  const renewals = async (hold: Preauthorization) => (await shop.get(hold)).authorizations.length - 1;
  const place = (fields: object = {}) => {
    processor.says.authorize = () => ({ ...approved, guaranteedUntil: inDays(5) });
    processor.says.void = () => approved;
    return shop.hold(fields);
  };

  it('is shown as it was asked for, and the authorizations of a hold only where it is or was kept', async () => {
    const keepUntil = inDays(30);
    const hold = await place({ keepUntil });
    assert.deepEqual([hold.keepUntil, (await shop.get(hold)).keepUntil], [keepUntil, keepUntil]);
    const [only, ...others] = (await shop.get(hold)).authorizations;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [only?.reference, only?.placedAt, only?.endedAt, only?.guaranteedUntil],
      ['ref', hold.placedAt, undefined, inDays(5)],
    );
    assert.deepEqual((await shop.get(await place())).authorizations, []);
  });

  it('is refused, and nothing is sent, before now, beyond 90 days, and without a token', async () => {
    processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1' });
    const heard = processor.heard.length;
    for (const days of [-1, 0, 91]) {
      const { reason, violations } = await refusal(shop.place({ keepUntil: inDays(days) }));
      assert.equal(reason, 'TIME_OUT_OF_RANGE');
      assert.deepEqual(Object.keys(violations), ['keep_until']);
    }
    const { reason, violations } = await refusal(shop.checkout({ keepUntil: inDays(30) }));
    assert.deepEqual([reason, Object.keys(violations)], ['INVALID_REQUEST', ['keep_until']]);
    assert.equal(processor.heard.length, heard);
    await place({ keepUntil: inDays(90) });
  });

  it('can be set, moved and taken back while the hold is open', async () => {
    const hold = await place();
    await update(hold, { keepUntil: inDays(20) });
    scripted.stage.clock.advance(3.5 * DAY_MS);
    await scripted.stage.renewKept();
    assert.equal(await renewals(hold), 1);
    await scripted.stage.inquire();
    await update(hold, {});
    scripted.stage.clock.advance(4 * DAY_MS);
    await scripted.stage.renewKept();
    assert.equal(await renewals(hold), 1);
    assert.equal((await shop.get(hold)).keepUntil, undefined);
    for (const days of [-1, 91])
      assert.equal(await why(update(hold, { keepUntil: inDays(days) })), 'TIME_OUT_OF_RANGE');
    await shop.release(hold);
    assert.equal(await why(update(hold, { keepUntil: inDays(20) })), 'HOLD_RELEASED');
  });

  it('can be set while the hold is being placed', async () => {
    processor.says.authorize = () => accepted(scripted.stage.clock.now(), 10_000);
    const { preauthorization } = await shop.place();
    const hold = preauthorization ?? assert.fail();
    await update(hold, { keepUntil: inDays(20) });
    processor.says.inquire = () => done({ ...approved, guaranteedUntil: inDays(5) });
    scripted.stage.clock.advance(61_000);
    await scripted.stage.inquire();
    await place();
    scripted.stage.clock.advance(3.5 * DAY_MS);
    await scripted.stage.renewKept();
    assert.equal(await renewals(hold), 1);
  });

  it('plans a renewal anew only when a time of the hold changes', async () => {
    const hold = await place({ keepUntil: inDays(20) });
    scripted.stage.clock.advance(3.5 * DAY_MS);
    processor.says.authorize = () => declined;
    await scripted.stage.renewKept();
    const text = "select from submission where kind = 'RENEWAL' and hold_request_id = $1";
    const asked = async () => (await sql(scripted.stage, text, [hold.requestId])).length;
    assert.equal(await asked(), 1);
    await update(hold, { description: 'Room 7' }, ['description']);
    await scripted.stage.renewKept();
    assert.equal(await asked(), 1);
    scripted.stage.clock.advance(DAY_MS);
    await scripted.stage.renewKept();
    assert.equal(await asked(), 2);
  });

  it('lets a hold be captured or released by itself after its present end', async () => {
    const hold = await place({ keepUntil: inDays(30), captureAt: inDays(20), releaseAt: inDays(25) });
    assert.equal(await why(update(hold, {}, ['keep_until'])), 'TIME_OUT_OF_RANGE');
    assert.equal(await why(place({ captureAt: inDays(20) })), 'TIME_OUT_OF_RANGE');
    for (let day = 0; day < 20; day += 1) {
      scripted.stage.clock.advance(DAY_MS);
      await scripted.stage.renewKept();
      await scripted.stage.inquire();
    }
    processor.says.capture = () => approved;
    await scripted.stage.captureDue();
    assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
  });

  it('is in the first answer as it was asked for first, whatever has changed since', async () => {
    const fields = { keepUntil: inDays(10), idempotencyKey: 'kept' };
    const hold = await place(fields);
    await update(hold, { keepUntil: inDays(20) });
    const { preauthorization, replayed } = await shop.place(fields);
    assert.deepEqual([preauthorization?.keepUntil, replayed], [hold.keepUntil, true]);
    assert.equal(await why(shop.place({ ...fields, keepUntil: inDays(11) })), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('is refused at a processor that does not keep what an authorization renews', async () => {
    const hold = await place();
    processor.is.renewals = false;
    await processor.restart();
    await shop.place().catch(() => undefined);
    assert.equal(await why(shop.place({ keepUntil: inDays(30) })), 'NOT_SUPPORTED');
    assert.equal(await why(update(hold, { keepUntil: inDays(30) })), 'NOT_SUPPORTED');
  });
});
