import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { forSuite } from '../../../suite.ts';
import { approved, declined } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { openMerchant, sql } from '../shop.ts';

const HOUR_MS = 3_600_000;

describe('the notice that a hold ends soon', () => {
  const { scripted } = useScriptedStage();
  const warned = { webhookUrl: 'https://merchant.example', notifyHolds: false, notifyExpiringHours: 24 };
  const shop = forSuite(() => openMerchant(scripted.stage, 'warned', warned));
  const advance = (hours: number) => scripted.stage.clock.advance(hours * HOUR_MS);
  const notices = async (hold: { requestId: string }) =>
    (await scripted.notificationsOf(hold)).filter(({ word }) => word === 'expiring').map(({ body }) => body);

  it('is made once, so long before the end, with what remains', async () => {
    const hold = await shop.hold();
    await shop.capture(hold, 4_000n);
    advance(6 * 24 - 1);
    await scripted.stage.noticeExpiring();
    assert.deepEqual(await notices(hold), []);
    advance(1);
    await Promise.all([scripted.stage.noticeExpiring(), scripted.stage.noticeExpiring()]);
    await scripted.stage.noticeExpiring();
    const [notice = {}, ...more] = await notices(hold);
    assert.deepEqual(more, []);
    const { status, amount, operation, holdRequestId, sequence, requestId } = notice;
    assert.deepEqual(
      { status, amount, operation, holdRequestId, sequence },
      { status: 'OK', amount: 6_000, operation: 'EXPIRING', holdRequestId: hold.requestId, sequence: 2 },
    );
    assert.notEqual(requestId, hold.requestId);
    assert.deepEqual(await scripted.stage.audit('own books'), []);
    advance(24);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'CAPTURED 4000/0/0/6000/0 EXPIRED');
  });

  it('counts from releaseAt, also when that is set later', async () => {
    const hold = await shop.hold();
    const { holds } = scripted.stage.channel('gateway');
    const releaseAt = timestampFromMs(scripted.stage.clock.now() + 48 * HOUR_MS);
    const change = { merchantId: 'warned', requestId: hold.requestId, updateMask: { paths: ['release_at'] } };
    await holds.updatePreauthorization({ ...change, releaseAt });
    advance(24);
    await scripted.stage.noticeExpiring();
    assert.equal((await notices(hold)).length, 1);
    await holds.updatePreauthorization(change);
    advance(5 * 24);
    await scripted.stage.noticeExpiring();
    assert.equal((await notices(hold)).length, 1);
  });

  it('is not made of a hold that renews itself before its end, until that has failed', async () => {
    const { stage, processor } = scripted;
    const early = await openMerchant(stage, 'early', { ...warned, notifyExpiringHours: 72 });
    const inDays = (days: number) => timestampFromMs(stage.clock.now() + days * 24 * HOUR_MS);
    processor.says.authorize = () => ({ ...approved, guaranteedUntil: inDays(7) });
    processor.says.void = () => approved;
    const keepUntil = inDays(30);
    const [renewed, refused] = [await early.hold({ keepUntil }), await early.hold({ keepUntil })];
    const frozen = await early.hold({ keepUntil });
    await sql(stage, "update hold set frozen = true, frozen_because = 'RESULT_CONTRADICTED' where request_id = $1", [
      frozen.requestId,
    ]);
    const told = async () => Promise.all([renewed, refused, frozen].map(async (hold) => (await notices(hold)).length));
    advance(4 * 24);
    await stage.noticeExpiring();
    assert.deepEqual(await told(), [0, 0, 1]);
    advance(24);
    processor.says.authorize = ({ renews }) =>
      renews === renewed.requestId ? { ...approved, guaranteedUntil: inDays(7) } : declined;
    for (let day = 0; day < 2; day++) {
      await stage.renewKept();
      await stage.noticeExpiring();
      assert.deepEqual(await told(), [0, day, 1]);
      advance(24);
    }
  });

  it('counts from the end of the guarantee, when that is sooner, and anew when it changes', async () => {
    const { clock } = scripted.stage;
    const guaranteed = (days: number) => ({
      ...approved,
      guaranteedUntil: timestampFromMs(clock.now() + days * 24 * HOUR_MS),
    });
    scripted.processor.says.authorize = () => guaranteed(3);
    scripted.processor.says.extendAuthorization = () => guaranteed(4);
    const [hold, extended] = [await shop.hold(), await shop.hold()];
    advance(24);
    await shop.extend(extended);
    advance(24);
    await scripted.stage.noticeExpiring();
    assert.deepEqual([(await notices(hold)).length, (await notices(extended)).length], [1, 0]);
    advance(2 * 24);
    await scripted.stage.noticeExpiring();
    assert.deepEqual([(await notices(hold)).length, (await notices(extended)).length], [1, 1]);
  });

  it('waits while the database is being reconciled', async () => {
    const hold = await shop.hold();
    advance(6 * 24);
    await sql(scripted.stage, 'update installation set reconciling_since = now()');
    await scripted.stage.noticeExpiring();
    assert.deepEqual(await notices(hold), []);
    await sql(scripted.stage, 'update installation set reconciling_since = null');
    await scripted.stage.noticeExpiring();
    assert.equal((await notices(hold)).length, 1);
  });

  it('follows an extension: once, so long before the new end', async () => {
    const [hold, sooner] = [await shop.hold(), await shop.hold()];
    const { holds } = scripted.stage.channel('gateway');
    const releaseAt = timestampFromMs(scripted.stage.clock.now() + 5 * 24 * HOUR_MS);
    const change = { merchantId: 'warned', updateMask: { paths: ['release_at'] }, releaseAt };
    await holds.updatePreauthorization({ ...change, requestId: sooner.requestId });
    advance(3 * 24);
    const expiresAt = timestampFromMs(scripted.stage.clock.now() + 7 * 24 * HOUR_MS);
    scripted.processor.says.extendAuthorization = () => ({ ...approved, expiresAt });
    for (const each of [hold, sooner]) await shop.extend(each);
    advance(24);
    await scripted.stage.noticeExpiring();
    assert.equal((await notices(sooner)).length, 1, 'it still ends at releaseAt');
    advance(2 * 24);
    await scripted.stage.noticeExpiring();
    assert.deepEqual(await notices(hold), [], 'not before the end that it had');
    advance(3 * 24);
    await scripted.stage.noticeExpiring();
    await scripted.stage.noticeExpiring();
    assert.equal((await notices(hold)).length, 1);
  });

  it('is not made again when the hold is extended after it', async () => {
    const hold = await shop.hold();
    advance(6 * 24);
    await scripted.stage.noticeExpiring();
    assert.equal((await notices(hold)).length, 1);
    const expiresAt = timestampFromMs(scripted.stage.clock.now() + 7 * 24 * HOUR_MS);
    scripted.processor.says.extendAuthorization = () => ({ ...approved, expiresAt });
    await shop.extend(hold);
    advance(6 * 24);
    await scripted.stage.noticeExpiring();
    assert.equal((await notices(hold)).length, 1);
  });

  it('is not made of a hold that is closed, or of which the end was jumped over, or without the term', async () => {
    const [closed, late] = [await shop.hold(), await shop.hold()];
    const plain = await openMerchant(scripted.stage, 'plain', { webhookUrl: 'https://plain.example' });
    const unwarned = await plain.hold();
    await shop.capture(closed, 10_000n);
    await sql(scripted.stage, 'update hold set expires_at = $2 where request_id = $1', [
      late.requestId,
      new Date(scripted.stage.clock.now() + HOUR_MS),
    ]);
    advance(6 * 24);
    await scripted.stage.noticeExpiring();
    for (const hold of [closed, late, unwarned]) assert.deepEqual(await notices(hold), []);
  });
});
