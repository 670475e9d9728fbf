import assert from 'node:assert/strict';
import { timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AuthorizeRequest } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { MerchantReason } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Preauthorization } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../suite.ts';
import { approved, declined, done, neverSeen, notPerformed } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { openMerchant, sql } from '../shop.ts';
import { why } from '../stage.ts';

const DAY_MS = 24 * 3_600_000;

describe('a hold that is kept', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'hotel', { webhookUrl: 'https://hotel.example' }));
  const inDays = (days: number) => timestampFromMs(scripted.stage.clock.now() + days * DAY_MS);
  const advance = (days: number) => scripted.stage.clock.advance(days * DAY_MS);
  const { renew, inquire } = {
    renew: () => scripted.stage.renewKept(),
    inquire: () => scripted.stage.inquire(),
  };

  /** Its authorizations are called a, b, c …, and are guaranteed for five days each. */
  let letter = 0;
  const approvedAnew = () => ({
    ...approved,
    reference: String.fromCharCode('a'.charCodeAt(0) + letter++),
    guaranteedUntil: inDays(5),
  });
  const keep = (fields: object = {}) => {
    letter = 0;
    processor.says.authorize = approvedAnew;
    processor.says.void = () => approved;
    return shop.hold({ keepUntil: inDays(30), ...fields });
  };
  const chain = async (hold: Preauthorization) =>
    (await shop.get(hold)).authorizations.map(({ reference, endedAt }) => `${reference}${endedAt ? ' ended' : ''}`);
  /** The calls to the processor about the authorization of a requestId. */
  const heardAbout = (id: string) =>
    processor.heard.filter(({ authorizationRequestId }) => authorizationRequestId === id).map(({ method }) => method);
  const renewalsOf = async ({ requestId }: { requestId: string }) =>
    (
      await sql<{ id: string }>(
        scripted.stage,
        `select request_id as id from submission where hold_request_id = $1 and kind = 'RENEWAL' order by request_id`,
        [requestId],
      )
    ).map(({ id }) => id);
  const newestRenewal = async (hold: { requestId: string }) => (await renewalsOf(hold)).at(-1) ?? assert.fail();
  afterEach(async () => {
    assert.deepEqual(await scripted.stage.audit('own books'), []);
    // The holds of the tests before renew themselves no more.
    await sql(scripted.stage, 'update hold set renew_at = null');
  });

  it('asks no more once it is needed no longer', async () => {
    const hold = await keep({ keepUntil: inDays(6) });
    const late = await keep({ keepUntil: inDays(6) });
    await sql(scripted.stage, 'update hold set renew_at = null where request_id = $1', [late.requestId]);
    processor.says.authorize = () => declined;
    for (let halfDays = 0; halfDays < 20; halfDays++) {
      advance(0.5);
      await renew();
    }
    assert.equal((await renewalsOf(hold)).length, 3);
    await sql(scripted.stage, 'update hold set renew_at = now() where request_id = $1', [late.requestId]);
    await renew();
    assert.equal((await renewalsOf(late)).length, 0);
    const [row] = await sql(scripted.stage, 'select renew_at from hold where request_id = $1', [hold.requestId]);
    assert.deepEqual(row, { renew_at: null });
  });

  it('renews itself before its guarantee ends, and then gives the authorization before back', async () => {
    const asked: AuthorizeRequest[] = [];
    const hold = await keep();
    processor.says.authorize = (request) => {
      asked.push(request);
      return approvedAnew();
    };
    advance(3);
    await renew();
    assert.equal(asked.length, 0);
    advance(0.5);
    await Promise.all([renew(), renew(), renew()]);
    const [request] = asked;
    assert.equal(asked.length, 1);
    assert.deepEqual(
      [request?.renews, request?.amount, request?.customerPresent, request?.merchantReason],
      [hold.requestId, 10_000n, false, MerchantReason.REAUTHORIZATION],
    );
    assert.deepEqual(await chain(hold), ['a', 'b']);
    await inquire();
    assert.deepEqual(heardAbout(hold.requestId), ['void']);
    const now = await shop.get(hold);
    assert.equal(now.preauthorizationId, hold.preauthorizationId);
    assert.deepEqual(await chain(hold), ['a ended', 'b']);
    assert.deepEqual(now.guaranteedUntil, inDays(5));
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await shop.results(hold), ['authorized', 'renewed 10000']);
    const [told] = await scripted.notificationsOf(hold);
    assert.equal(told?.word, 'renewed');
    assert.equal(told.body.guaranteedUntil, timestampDate(inDays(5)).toISOString());
  });

  it('is captured, released and refunded on the authorization that each of them is on', async () => {
    const hold = await keep();
    const { capture } = await shop.capture(hold, 3_000n);
    advance(4);
    await renew();
    await inquire();
    const second = await newestRenewal(hold);
    await shop.capture(hold, 2_000n);
    await shop.refund(capture ?? assert.fail(), 1_000n);
    await shop.release(hold);
    assert.deepEqual(heardAbout(hold.requestId), ['capture', 'void', 'refund']);
    assert.deepEqual(heardAbout(second), ['capture', 'void']);
    assert.equal(await shop.books(hold), 'CAPTURED 5000/0/0/5000/0 RELEASED refunded 1000');
    assert.deepEqual(await chain(hold), ['a ended', 'b ended']);
  });

  it('renews itself until it is needed no longer', async () => {
    const hold = await keep({ keepUntil: inDays(12) });
    for (let day = 0; day < 13; day += 1) {
      advance(1);
      await renew();
      await inquire();
    }
    assert.deepEqual(await chain(hold), ['a ended', 'b ended', 'c']);
    const short = await keep({ keepUntil: inDays(30), releaseAt: inDays(4) });
    advance(3.9);
    await renew();
    assert.deepEqual(await chain(short), ['a']);
  });

  it('lives on when its renewal is declined, and is renewed a day later', async () => {
    const hold = await keep();
    processor.says.authorize = () => declined;
    advance(3.5);
    await renew();
    await renew();
    assert.deepEqual(await shop.results(hold), ['authorized', 'renewal_declined 10000']);
    assert.deepEqual(await chain(hold), ['a']);
    processor.says.authorize = approvedAnew;
    advance(0.9);
    await renew();
    assert.deepEqual(await chain(hold), ['a']);
    advance(0.1);
    await renew();
    assert.deepEqual(await chain(hold), ['a', 'b']);
  });

  it('is captured during its renewal; the new authorization is given back then, and another one asked for', async () => {
    const hold = await keep();
    processor.says.authorize = async () => {
      await shop.capture(hold, 4_000n);
      return approvedAnew();
    };
    advance(3.5);
    await renew();
    const overtaken = await newestRenewal(hold);
    processor.says.authorize = approvedAnew;
    await renew();
    await inquire();
    assert.deepEqual(heardAbout(overtaken), ['void']);
    await renew();
    await inquire();
    assert.deepEqual(await chain(hold), ['a ended', 'c']);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    assert.deepEqual(await shop.results(hold), ['authorized', 'captured 4000', 'renewed 6000']);
  });

  for (const [what, act, books] of [
    ['released', (hold: Preauthorization) => shop.release(hold), 'RELEASED 0/0/0/10000/0 RELEASED'],
    ['incremented', (hold: Preauthorization) => shop.increment(hold, 500n), 'IN_PROGRESS 0/0/10500/0/0'],
    ['captured in full', (hold: Preauthorization) => shop.capture(hold, 10_000n), 'CAPTURED 10000/0/0/0/0'],
  ] as const) {
    it(`is ${what} during its renewal, which then is given back`, async () => {
      const hold = await keep();
      processor.says.incrementAuthorization = () => approved;
      processor.says.authorize = async () => {
        await act(hold);
        return approvedAnew();
      };
      advance(3.5);
      await renew();
      await inquire();
      assert.equal(await shop.books(hold), books);
      assert.deepEqual(heardAbout(await newestRenewal(hold)), ['void']);
      assert.equal((await shop.results(hold)).length, 2);
    });
  }

  it('waits for a final capture while the authorization before is given back', async () => {
    const hold = await keep();
    advance(3.5);
    await scripted.stage.renewDue();
    processor.says.capture = () => undefined;
    processor.says.inquire = () => undefined;
    await shop.capture(hold, 4_000n, { finalCapture: true });
    assert.equal(await scripted.stage.voidReplaced(), 1);
    processor.says.capture = () => approved;
    assert.equal(await why(shop.capture(hold, 1_000n)), 'CAPTURE_IN_FLIGHT');
    processor.says.inquire = () => done(approved);
    await scripted.inquireLater();
    assert.equal(await shop.books(hold), 'CAPTURED 4000/0/0/6000/0 FINAL');
  });

  it('has one renewal at a time: one without an answer is inquired about', async () => {
    const hold = await keep();
    processor.says.authorize = () => undefined;
    processor.says.inquire = () => undefined;
    advance(3.5);
    for (let tries = 0; tries < 3; tries += 1) await renew();
    assert.equal((await renewalsOf(hold)).length, 1);
    await shop.capture(hold, 1_000n);
    processor.says.inquire = () => done(approvedAnew());
    await scripted.inquireLater();
    await renew();
    await inquire();
    assert.deepEqual(heardAbout(await newestRenewal(hold)), ['void']);
    assert.deepEqual(await shop.results(hold), ['authorized', 'captured 1000']);
  });

  it('is renewed again when a renewal never arrived, and tells nobody', async () => {
    const hold = await keep();
    processor.says.authorize = () => undefined;
    processor.says.inquire = () => neverSeen;
    advance(3.5);
    await renew();
    await scripted.inquireLater();
    processor.says.authorize = approvedAnew;
    await renew();
    assert.equal((await renewalsOf(hold)).length, 1);
    scripted.stage.clock.advance(60_000);
    await renew();
    assert.deepEqual(await chain(hold), ['a', 'b']);
    assert.deepEqual(await shop.results(hold), ['authorized', 'renewed 10000']);
  });

  it('says of the new authorization what the processor does, and does not ask at once for one that is over', async () => {
    const [unsaid, over] = [await keep(), await keep()];
    advance(3.5);
    processor.says.authorize = ({ renews }) => ({
      ...approved,
      ...(renews === over.requestId && { guaranteedUntil: inDays(-1) }),
    });
    for (let looks = 0; looks < 4; looks++) {
      await renew();
      await inquire();
      advance(0.01);
    }
    assert.deepEqual([(await renewalsOf(unsaid)).length, (await renewalsOf(over)).length], [1, 1]);
    assert.equal((await shop.get(unsaid)).guaranteedUntil, undefined);
    const { operations } = await shop.operations.listOperations({
      merchantId: 'hotel',
      holdRequestId: unsaid.requestId,
    });
    assert.equal(operations.length, 1);
  });

  it('does not take over an authorization of another amount', async () => {
    const hold = await keep();
    processor.says.authorize = () => ({ ...approvedAnew(), amount: 9_000n });
    advance(3.5);
    await renew();
    await inquire();
    assert.deepEqual(await chain(hold), ['a']);
    assert.deepEqual(heardAbout(await newestRenewal(hold)), ['void']);
  });

  for (const [what, answer] of [
    ['is of another amount', () => ({ ...approvedAnew(), amount: 9_000n })],
    ['is not performed', () => notPerformed('token_invalid')],
  ] as const) {
    it(`is renewed a day later when its renewal ${what}, not again and again`, async () => {
      const hold = await keep();
      processor.says.authorize = answer;
      advance(3.5);
      for (let minutes = 0; minutes < 5; minutes += 1) {
        await renew();
        await inquire();
        scripted.stage.clock.advance(60_000);
      }
      assert.equal((await renewalsOf(hold)).length, 1);
      processor.says.authorize = approvedAnew;
      advance(1);
      await renew();
      assert.equal((await chain(hold)).length, 2);
    });
  }
});
