import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { automaticCaptures } from '../../../../services/core/recovery/due-holds.ts';
import { workLoop } from '../../../../services/core/recovery/work-loop.ts';
import type { DueHold } from '../../../../services/core/storage/hold/find-due-holds.ts';
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

    it('waits while the hold is frozen, which expires meanwhile', async () => {
      const frozen = await shop.hold({ captureAt: inHours(1) });
      const over = await shop.hold({ captureAt: inHours(1), releaseAt: inHours(2) });
      const freeze = 'update hold set frozen = true where request_id = any ($1)';
      await sql(scripted.stage, freeze, [[frozen.requestId, over.requestId]]);
      advance(3);
      await captureDue();
      await expire();
      assert.equal(await shop.books(frozen), 'IN_PROGRESS 0/0/10000/0/0 frozen');
      assert.equal(await shop.books(over), 'EXPIRED 0/0/0/10000/0 EXPIRED frozen');
      await sql(scripted.stage, 'update hold set frozen = false where request_id = $1', [frozen.requestId]);
      await captureDue();
      assert.equal(await shop.books(frozen), 'CAPTURED 10000/0/0/0/0');
    });

    it('comes before the end that follows it, whichever a late worker finds first', async () => {
      for (const work of [captureDue, expire]) {
        const released = await shop.hold({ captureAt: inHours(1), releaseAt: inHours(2) });
        const expired = await shop.hold({ captureAt: inHours(1) });
        const ends = `update hold set expires_at = created_at + interval '2 hours' where request_id = $1`;
        await sql(scripted.stage, ends, [expired.requestId]);
        advance(3);
        for (const hold of [released, expired]) {
          assert.equal(await why(shop.capture(hold, 1n)), 'CAPTURE_IN_FLIGHT');
          assert.equal(await why(shop.release(hold)), 'CAPTURE_IN_FLIGHT');
          assert.equal(await why(update(hold, {}, ['capture_at'])), 'TIME_OUT_OF_RANGE');
        }
        await work();
        for (const hold of [released, expired]) assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
      }
    });

    it('is tried before the end, and leaves the rest to the end when it is declined', async () => {
      const hold = await shop.hold({ captureAt: inHours(1), releaseAt: inHours(2) });
      processor.says.capture = () => declined;
      advance(3);
      await expire();
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_EXPIRED');
      await expire();
      assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
      assert.deepEqual(await shop.results(hold), ['authorized', 'declined 10000', 'expired 10000']);
    });

    it('does not come before an end at the processor, nor before one that its time is not before', async () => {
      const hold = await shop.hold({ captureAt: inHours(2) });
      const ends = `update hold set expires_at = created_at + interval '1 hour' where request_id = $1`;
      await sql(scripted.stage, ends, [hold.requestId]);
      advance(3);
      await captureDue();
      await expire();
      assert.equal(captures(hold), 0);
      assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    });

    it('is made in time beside many of another merchant that get no answer', async () => {
      const bolt = await openMerchant(scripted.stage, 'bolt-due');
      const flood = await Promise.all(Array.from({ length: 20 }, () => shop.hold({ captureAt: inHours(1) })));
      const ids = new Set(flood.map(({ requestId }) => requestId));
      const times = { captureAt: inHours(1.5), releaseAt: inHours(2) };
      const quiet = [await bolt.hold(times), await bolt.hold(times)];
      const answer = Promise.withResolvers<undefined>();
      processor.says.capture = ({ authorizationRequestId }) =>
        ids.has(authorizationRequestId) ? answer.promise : approved;
      advance(1.75);
      const { recovery, clock } = scripted.stage;
      const left = new Set(quiet.map(({ requestId }) => requestId));
      const done = Promise.withResolvers<void>();
      const work = automaticCaptures(recovery);
      const handle = async (hold: DueHold) => {
        await work.handle(hold);
        if (left.delete(hold.requestId) && left.size === 0) done.resolve();
      };
      const loop = workLoop({ ...work, slots: 8, intervalMs: 1, handle }, recovery.log, () => new Date(clock.now()));
      await done.promise;
      for (const hold of quiet) assert.equal(await bolt.books(hold), 'CAPTURED 10000/0/0/0/0');
      answer.resolve(undefined);
      await loop.close();
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

    it('does nothing about what a worker had found before the database was reconciled', async () => {
      const hold = await shop.hold({ captureAt: inHours(1) });
      advance(1);
      const { find, handle } = automaticCaptures(scripted.stage.recovery);
      const [due = assert.fail()] = await find({ limit: 1, but: [] });
      await sql(scripted.stage, 'update installation set reconciling_since = now()');
      await handle(due);
      assert.deepEqual([captures(hold), await shop.books(hold)], [0, 'IN_PROGRESS 0/0/10000/0/0']);
      await sql(scripted.stage, 'update installation set reconciling_since = null');
      await handle(due);
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
