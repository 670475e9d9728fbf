import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { approved, declined, neverSeen } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { openMerchant, sql } from '../shop.ts';
import { refusal, why } from '../stage.ts';

const HOUR_MS = 3_600_000;

describe('what a hold does by itself', () => {
  const { scripted, shop, processor } = useScriptedStage();
  const inHours = (hours: number) => timestampFromMs(scripted.stage.clock.now() + hours * HOUR_MS);
  const advance = (hours: number) => scripted.stage.clock.advance(hours * HOUR_MS);
  const { captureDue, expire } = {
    captureDue: () => scripted.stage.captureDue(),
    expire: () => scripted.stage.expire(),
  };
  const captures = (hold: { requestId: string }) =>
    processor.heard.filter((call) => call.method === 'capture' && call.authorizationRequestId === hold.requestId)
      .length;
  const update = (hold: { requestId: string }, change: object, paths: string[]) =>
    scripted.stage.channel('gateway').holds.updatePreauthorization({
      merchantId: 'acme',
      requestId: hold.requestId,
      ...change,
      updateMask: { paths },
    });

  describe('at captureAt', () => {
    it('captures what remains, once, whatever the number of workers', async () => {
      const hold = await shop.hold({ captureAt: inHours(2) });
      await shop.capture(hold, 4_000n);
      await captureDue();
      assert.equal(captures(hold), 1);
      advance(2);
      await Promise.all([captureDue(), captureDue(), captureDue()]);
      await captureDue();
      assert.equal(captures(hold), 2);
      assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
      assert.deepEqual(await shop.results(hold), ['authorized', 'captured 4000', 'captured 6000']);
    });

    it('stays open until its end when that is declined, and says so once', async () => {
      const hold = await shop.hold({ captureAt: inHours(1) });
      processor.says.capture = () => declined;
      advance(1);
      await captureDue();
      await captureDue();
      assert.deepEqual(await shop.results(hold), ['authorized', 'declined 10000']);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      processor.says.capture = () => approved;
      await shop.capture(hold, 1n);
      advance(7 * 24);
      await expire();
      assert.equal(await shop.books(hold), 'CAPTURED 1/0/0/9999/0 EXPIRED');
    });

    it('waits for an unknown capture, and makes one that never arrived again, three times at most', async () => {
      const hold = await shop.hold({ captureAt: inHours(1) });
      processor.says.capture = () => undefined;
      processor.says.inquire = () => neverSeen;
      advance(1);
      for (let tries = 1; tries <= 4; tries += 1) {
        await captureDue();
        await captureDue();
        assert.equal(captures(hold), Math.min(tries, 3));
        await scripted.inquireLater();
      }
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      assert.deepEqual(await scripted.stage.audit('own books'), []);
    });

    it('waits for a capture of the merchant whose outcome is not known', async () => {
      const hold = await shop.hold({ captureAt: inHours(1) });
      processor.says.capture = () => undefined;
      await shop.capture(hold, 3_000n);
      advance(1);
      await captureDue();
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/3000/7000/0/0');
      processor.says.capture = () => approved;
      processor.says.inquire = () => neverSeen;
      await scripted.inquireLater();
      await captureDue();
      assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
    });

    it('waits while the hold is frozen, and loses against its end when a clock jumps over both', async () => {
      const [frozen, late] = [await shop.hold({ captureAt: inHours(1) }), await shop.hold({ captureAt: inHours(1) })];
      await sql(scripted.stage, 'update hold set frozen = true where request_id = $1', [frozen.requestId]);
      await sql(scripted.stage, `update hold set expires_at = created_at + interval '2 hours' where request_id = $1`, [
        late.requestId,
      ]);
      advance(3);
      await captureDue();
      await expire();
      assert.equal(await shop.books(frozen), 'IN_PROGRESS 0/0/10000/0/0 frozen');
      assert.equal(await shop.books(late), 'EXPIRED 0/0/0/10000/0 EXPIRED');
      await sql(scripted.stage, 'update hold set frozen = false where request_id = $1', [frozen.requestId]);
      await captureDue();
      assert.equal(await shop.books(frozen), 'CAPTURED 10000/0/0/0/0');
    });

    it('does nothing while the database is being reconciled', async () => {
      const hold = await shop.hold({ captureAt: inHours(1) });
      advance(1);
      await sql(scripted.stage, 'update installation set reconciling_since = now()');
      await captureDue();
      assert.equal(captures(hold), 0);
      await sql(scripted.stage, 'update installation set reconciling_since = null');
      await captureDue();
      assert.equal(captures(hold), 1);
    });
  });

  it('ends at releaseAt, before its period', async () => {
    const hold = await shop.hold({ releaseAt: inHours(1) });
    advance(1);
    assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_EXPIRED');
    await Promise.all([expire(), expire()]);
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.deepEqual(await shop.results(hold), ['authorized', 'expired 10000']);
  });

  it('is not due at releaseAt while an extension has no result', async () => {
    const hold = await shop.hold({ releaseAt: inHours(1) });
    processor.says.extendAuthorization = () => undefined;
    await shop.extend(hold);
    advance(1);
    assert.equal(await expire(), 0, 'nothing is due');
    processor.says.inquire = () => neverSeen;
    await scripted.inquireLater();
    await expire();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  it('refuses times that are past, after the end, or in the wrong order, and sends nothing', async () => {
    const count = processor.heard.length;
    for (const times of [
      { captureAt: inHours(0) },
      { releaseAt: inHours(-1) },
      { captureAt: inHours(7 * 24) },
      { releaseAt: inHours(8 * 24) },
      { captureAt: inHours(2), releaseAt: inHours(2) },
    ]) {
      assert.equal((await refusal(shop.place(times))).reason, 'TIME_OUT_OF_RANGE');
    }
    assert.equal(processor.heard.length, count);
  });

  it('captures nothing by itself when captures must be signed', async () => {
    const signing = await openMerchant(scripted.stage, 'signing');
    await sql(
      scripted.stage,
      `update merchant set capture_public_key = 'k', require_signed_captures = true where id = 'signing'`,
    );
    scripted.stage.clock.advance(2_000);
    assert.equal(await why(signing.place({ captureAt: inHours(1) })), 'SIGNATURE_REQUIRED');
  });

  describe('updatePreauthorization()', () => {
    it('changes and takes back what is named, and nothing else', async () => {
      const hold = await shop.hold({
        captureAt: inHours(1),
        description: 'Room 12',
        metadata: { a: '1' },
        idempotencyKey: 'changed',
      });
      const releaseAt = inHours(5);
      const { preauthorization } = await update(hold, { releaseAt, description: 'Room 13' }, [
        'capture_at',
        'release_at',
        'description',
      ]);
      for (const now of [preauthorization ?? assert.fail(), await shop.get(hold)]) {
        assert.deepEqual(
          [now.captureAt, now.releaseAt, now.description, now.metadata],
          [undefined, releaseAt, 'Room 13', { a: '1' }],
        );
      }
      advance(1);
      await captureDue();
      assert.equal(captures(hold), 0);
      const again = await shop.place({
        captureAt: hold.captureAt,
        description: 'Room 12',
        metadata: { a: '1' },
        idempotencyKey: 'changed',
      });
      assert.deepEqual(again.preauthorization, hold);
      await update(hold, {}, ['release_at', 'description', 'metadata']);
      const bare = await shop.get(hold);
      assert.deepEqual([bare.releaseAt, bare.description, bare.metadata], [undefined, '', {}]);
    });

    it('changes no time that has fallen due, and none of a hold that has ended', async () => {
      const hold = await shop.hold({ captureAt: inHours(1) });
      advance(1);
      assert.equal(await why(update(hold, { captureAt: inHours(1) }, ['capture_at'])), 'TIME_OUT_OF_RANGE');
      await update(hold, { releaseAt: inHours(1) }, ['release_at']);
      await captureDue();
      assert.equal(await why(update(hold, {}, ['release_at'])), 'HOLD_CAPTURED');
      await update(hold, { merchantReference: 'late' }, ['merchant_reference']);
      assert.equal((await shop.get(hold)).merchantReference, 'late');
      const released = await shop.hold({ releaseAt: inHours(1) });
      processor.says.authorize = () => undefined;
      const { preauthorization: unknown = assert.fail() } = await shop.place({ releaseAt: inHours(1) });
      advance(1);
      assert.equal(await why(update(released, {}, ['release_at'])), 'HOLD_EXPIRED');
      assert.equal(await why(update(unknown, {}, ['release_at'])), 'TIME_OUT_OF_RANGE');
      await update(unknown, {}, ['capture_at']);
    });

    it('refuses bad input, and changes nothing', async () => {
      const hold = await shop.hold();
      for (const [change, paths, code] of [
        [{}, [], 'INVALID_REQUEST'],
        [{}, ['amount'], 'INVALID_REQUEST'],
        [{ description: '4242424242424242' }, ['description'], 'INVALID_REQUEST'],
        [{ captureAt: inHours(-1) }, ['capture_at'], 'TIME_OUT_OF_RANGE'],
        [{ captureAt: inHours(8 * 24) }, ['capture_at'], 'TIME_OUT_OF_RANGE'],
        [{ captureAt: inHours(3), releaseAt: inHours(2) }, ['capture_at', 'release_at'], 'TIME_OUT_OF_RANGE'],
      ] as const) {
        assert.equal(await why(update(hold, change, [...paths])), code);
      }
      assert.deepEqual(await shop.get(hold), hold);
      assert.equal(await why(update({ requestId: 'nothing' }, {}, ['metadata'])), 'PREAUTHORIZATION_NOT_FOUND');
      const { holds } = scripted.stage.channel('gateway');
      const foreign = { merchantId: 'bolt', requestId: hold.requestId, updateMask: { paths: ['metadata'] } };
      assert.equal(await why(holds.updatePreauthorization(foreign)), 'PREAUTHORIZATION_NOT_FOUND');
    });
  });
});
