import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { approved, declined, done, neverSeen } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { sql } from '../shop.ts';
import { why } from '../stage.ts';

const DAY_MS = 86_400_000;

describe('renewPreauthorization()', () => {
  const { scripted, shop, processor } = useScriptedStage();
  const renew = (hold: { requestId: string }, fields: object = {}) => shop.renew(hold, fields);
  const renewed = async (hold: { requestId: string }, fields: object = {}) => {
    const { preauthorization, state } = await renew(hold, fields);
    assert.equal(state, OperationState.OK);
    return preauthorization ?? assert.fail();
  };
  const releaseOld = () => scripted.stage.releaseRenewed();
  const calls = () => processor.heard.map(({ method }) => method);

  it('places a hold for what remained, then releases the old one, once', async () => {
    const old = await shop.hold({ merchantReference: 'room 12' });
    await shop.capture(old, 4_000n);
    processor.heard.length = 0;
    const hold = await renewed(old);
    assert.deepEqual(
      [hold.amount, hold.renews, hold.terminalId, hold.userId, hold.merchantReference],
      [6_000n, old.requestId, old.terminalId, old.userId, 'room 12'],
    );
    assert.equal(await shop.books(old), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    await Promise.all([releaseOld(), releaseOld()]);
    await releaseOld();
    assert.deepEqual(calls(), ['authorize', 'void']);
    assert.equal(await shop.books(old), 'CAPTURED 4000/0/0/6000/0 RELEASED');
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/6000/0/0');
    assert.equal((await shop.get(hold)).renews, old.requestId);
  });

  it('renews a hold that has expired, for what was given back, or for another amount', async () => {
    const old = await shop.hold();
    scripted.stage.clock.advance(7 * DAY_MS);
    await scripted.stage.expire();
    assert.equal((await renewed(old)).amount, 10_000n);
    scripted.stage.clock.advance(8 * DAY_MS);
    assert.equal((await renewed(old, { amount: 12_000n })).amount, 12_000n);
    processor.heard.length = 0;
    await releaseOld();
    assert.deepEqual(calls(), []);
  });

  it('refuses another renewal while one is open, also once the old hold is released', async () => {
    const old = await shop.hold();
    const first = await renewed(old);
    assert.equal(await why(renew(old)), 'HOLD_RELEASED');
    await releaseOld();
    assert.equal(await why(renew(old)), 'HOLD_RELEASED');
    await shop.release(first);
    assert.equal((await renewed(old)).renews, old.requestId);
  });

  it('refuses another renewal while one has no result, and allows one when it has failed', async () => {
    const old = await shop.hold();
    processor.says.authorize = () => undefined;
    processor.says.inquire = () => neverSeen;
    assert.equal((await renew(old, { idempotencyKey: 'first' })).state, OperationState.UNKNOWN);
    assert.equal(await why(renew(old)), 'CAPTURE_IN_FLIGHT');
    assert.equal((await renew(old, { idempotencyKey: 'first' })).state, OperationState.UNKNOWN);
    await scripted.inquireLater();
    processor.says.authorize = () => approved;
    assert.equal((await renewed(old)).renews, old.requestId);
  });

  it('keeps the old hold when the new one is declined, and while its outcome is unknown', async () => {
    const old = await shop.hold();
    processor.says.authorize = () => declined;
    assert.equal(await why(renew(old)), 'CARD_DECLINED');
    processor.says.authorize = () => undefined;
    processor.says.inquire = () => neverSeen;
    assert.equal((await renew(old)).state, OperationState.UNKNOWN);
    await releaseOld();
    await scripted.inquireLater();
    await releaseOld();
    assert.equal(await shop.books(old), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('keeps the old hold while the database is being reconciled', async () => {
    const old = await shop.hold();
    await renewed(old);
    await sql(scripted.stage, 'update installation set reconciling_since = now()');
    await releaseOld();
    assert.equal(await shop.books(old), 'IN_PROGRESS 0/0/10000/0/0');
    await sql(scripted.stage, 'update installation set reconciling_since = null');
    await releaseOld();
    assert.equal(await shop.books(old), 'RELEASED 0/0/0/10000/0 RELEASED');
  });

  it('waits for a capture of the old hold, and releases what that leaves', async () => {
    const old = await shop.hold();
    processor.says.capture = () => undefined;
    await shop.capture(old, 3_000n);
    assert.equal((await renewed(old)).amount, 7_000n);
    await releaseOld();
    assert.equal(await shop.books(old), 'IN_PROGRESS 0/3000/7000/0/0');
    processor.says.inquire = () => neverSeen;
    await scripted.inquireLater();
    await releaseOld();
    assert.equal(await shop.books(old), 'RELEASED 0/0/0/10000/0 RELEASED');
  });

  it('leaves an old hold alone while an increment has no result, and when its period is over', async () => {
    const [busy, over] = [await shop.hold(), await shop.hold()];
    processor.says.incrementAuthorization = () => undefined;
    await shop.increment(busy, 1_000n);
    await renewed(busy);
    await renewed(over);
    await sql(scripted.stage, 'update hold set release_at = created_at where request_id = $1', [over.requestId]);
    assert.equal(await releaseOld(), 0, 'nothing is due');
    processor.says.inquire = () => neverSeen;
    await scripted.inquireLater();
    await scripted.stage.expire();
    assert.equal(await releaseOld(), 2);
    assert.equal(await shop.books(busy), 'RELEASED 0/0/0/10000/0 RELEASED');
    assert.equal(await shop.books(over), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  it('sends a release that never arrived again, three times at most', async () => {
    const old = await shop.hold();
    await renewed(old);
    processor.says.void = () => undefined;
    processor.says.inquire = () => neverSeen;
    for (let tries = 0; tries < 5; tries += 1) {
      await releaseOld();
      await scripted.inquireLater();
    }
    assert.deepEqual(await shop.results(old), ['authorized', 'failed 10000', 'failed 10000', 'failed 10000']);
    assert.equal(await shop.books(old), 'IN_PROGRESS 0/0/10000/0/0');
    assert.equal(await releaseOld(), 0, 'nothing is left to do');
  });

  it('tells that the old hold could not be released, and leaves it open', async () => {
    const old = await shop.hold();
    await renewed(old);
    processor.says.void = () => declined;
    await releaseOld();
    await releaseOld();
    assert.deepEqual(await shop.results(old), ['authorized', 'declined 10000']);
    assert.equal(await shop.books(old), 'IN_PROGRESS 0/0/10000/0/0');
    processor.says.void = () => approved;
  });

  it('releases the old hold once, also when an inquiry finds that it was refused', async () => {
    const old = await shop.hold();
    processor.says.void = () => declined;
    assert.equal(await why(shop.release(old)), 'CARD_DECLINED');
    scripted.stage.clock.advance(1_000);
    await renewed(old);
    processor.says.void = () => undefined;
    await releaseOld();
    processor.says.inquire = () => done(declined);
    await scripted.inquireLater();
    processor.says.void = () => declined;
    await releaseOld();
    assert.deepEqual(await shop.results(old), ['authorized', 'declined 10000', 'declined 10000']);
    assert.equal(await releaseOld(), 0, 'nothing is left to do');
  });

  it('gives a repetition the first answer, whatever remains by then', async () => {
    const old = await shop.hold();
    const first = await renew(old, { idempotencyKey: 'again' });
    await releaseOld();
    const again = await renew(old, { idempotencyKey: 'again' });
    assert.deepEqual(again, { ...first, replayed: true });
    assert.equal(await why(renew(old, { idempotencyKey: 'again', amount: 5n })), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('refuses what cannot be renewed, and sends nothing', async () => {
    processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1' });
    const open = (await shop.checkout()).preauthorization ?? assert.fail();
    const [captured, frozen, paid] = [await shop.hold(), await shop.hold(), await shop.hold()];
    await shop.capture(captured, 10_000n);
    await sql(scripted.stage, 'update hold set frozen = true where request_id = $1', [frozen.requestId]);
    await sql(scripted.stage, 'update hold set token_id = null where request_id = $1', [paid.requestId]);
    processor.heard.length = 0;
    for (const [hold, code] of [
      [{ requestId: 'nothing' }, 'PREAUTHORIZATION_NOT_FOUND'],
      [open, 'HOLD_NOT_PLACED'],
      [paid, 'NOT_SUPPORTED'],
      [frozen, 'HOLD_FROZEN'],
      [captured, 'HOLD_CAPTURED'],
    ] as const) {
      assert.equal(await why(renew(hold)), code);
    }
    const { holds } = scripted.stage.channel('gateway');
    assert.equal(
      await why(holds.renewPreauthorization({ merchantId: 'bolt', requestId: paid.requestId })),
      'PREAUTHORIZATION_NOT_FOUND',
    );
    assert.deepEqual(calls(), []);
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });
});
