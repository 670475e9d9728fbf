/** Renewals of kept holds are imported after the database went back in time, in their place among everything else. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Preauthorization } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { beginReconciling } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

const DAY_MS = 24 * 3_600_000;

describe('reconcile() with renewals of kept holds', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'hotel', { webhookUrl: 'https://hotel.example/hooks' }));
  beginAnew(stage);
  const decide = (decisions: Decisions) => decideAt(stage, decisions);
  const keep = () => shop.hold({ keepUntil: timestampFromMs(stage.clock.now() + 60 * DAY_MS) });
  /** Renews what is due, and sends the voids of what was replaced. */
  const renew = async (days = 5.5) => {
    stage.clock.advance(days * DAY_MS);
    await stage.renewKept();
    await stage.inquire();
  };
  const references = async (hold: Preauthorization) =>
    (await shop.get(hold)).authorizations.map(({ reference, endedAt }) => `${reference}${endedAt ? ' ended' : ''}`);
  const stateOf = async (hold: Preauthorization) => {
    const { guaranteedUntil, expiresAt, keepUntil } = await shop.get(hold);
    return [await shop.books(hold), await references(hold), guaranteedUntil, expiresAt, keepUntil];
  };
  const importAll = async (decisions: Decisions = { importing: ['all'] }) => {
    const { lines, left } = await decide(decisions);
    assert.equal(left, 0, lines.join('\n'));
    assert.deepEqual(await stage.audit(), []);
    return lines;
  };

  // Something of ours is in the processor's books.
  beforeEach(() => shop.hold());

  it('imports renewals of a hold, and what was done on each authorization', async () => {
    const hold = await keep();
    const goBack = await rememberNow(stage);
    const { capture: first = assert.fail() } = await shop.capture(hold, 2_000n);
    await shop.increment(hold, 500n);
    await renew();
    const { capture: second = assert.fail() } = await shop.capture(hold, 1_000n);
    await shop.refund(first, 700n);
    await shop.releasePart(hold, 300n);
    await renew();
    await shop.capture(hold, 400n);
    await shop.refund(second, 100n);
    const state = await stateOf(hold);
    const results = await shop.results(hold);
    await goBack();
    assert.notDeepEqual(await stage.audit(), []);
    const lines = await importAll();
    assert.equal(lines.filter((line) => line.startsWith('IMPORTED renewal approved')).length, 2, lines.join('\n'));
    assert.deepEqual(await stateOf(hold), state);
    assert.deepEqual((await shop.results(hold)).sort(), results.sort());
    await shop.capture(hold, 5_000n);
    await renew();
    await shop.release(hold);
    assert.equal(await shop.books(hold), 'CAPTURED 8400/0/0/2100/0 RELEASED refunded 800');
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports a hold that is lost with its renewals; it renews itself no more', async () => {
    const goBack = await rememberNow(stage);
    const hold = await keep();
    await shop.capture(hold, 2_000n);
    await renew();
    await renew();
    const { capture = assert.fail() } = await shop.capture(hold, 1_000n);
    const books = await shop.books(hold);
    const authorizations = await references(hold);
    await goBack();
    await importAll({ importing: [capture.requestId] });
    assert.equal(await shop.books(hold), books);
    assert.deepEqual(await references(hold), authorizations);
    assert.equal((await shop.get(hold)).keepUntil, undefined);
    await shop.release(hold);
    assert.deepEqual(await stage.audit(), []);
  });

  for (const [end, act, books] of [
    ['released', shop_release, 'CAPTURED 2000/0/0/8000/0 RELEASED'],
    ['captured in full', shop_captureAll, 'CAPTURED 10000/0/0/0/0'],
  ] as const) {
    it(`imports the renewal of a hold that was ${end} afterwards`, async () => {
      const hold = await keep();
      await shop.capture(hold, 2_000n);
      const goBack = await rememberNow(stage);
      await renew();
      await act(hold);
      await goBack();
      await importAll();
      assert.equal(await shop.books(hold), books);
    });
  }
  function shop_release(hold: Preauthorization) {
    return shop.release(hold);
  }
  function shop_captureAll(hold: Preauthorization) {
    return shop.capture(hold, 8_000n);
  }

  it('imports only the void of an authorization whose renewal is known here', async () => {
    const hold = await keep();
    stage.clock.advance(5.5 * DAY_MS);
    await stage.renewKept();
    const goBack = await rememberNow(stage);
    await stage.inquire();
    const state = await stateOf(hold);
    await goBack();
    // The void is stored here, and was sent: it is inquired about.
    await importAll();
    await stage.inquire();
    assert.deepEqual(await stateOf(hold), state);
    await sql(stage, `delete from submission where kind = 'LATE_VOID'`);
    await sql(
      stage,
      `delete from claim where request_id not in (select request_id from submission
      union select request_id from hold)`,
    );
    await sql(stage, 'update hold set to_void = request_id where request_id = $1', [hold.requestId]);
    const lines = await importAll();
    assert.match(lines.join('\n'), /^IMPORTED void approved/);
    assert.deepEqual(await stage.audit(), []);
    assert.equal((await shop.get(hold)).amountRemaining, 10_000n);
  });

  it('waits with a renewal without a result, and settles it after what came before', async () => {
    const hold = await keep();
    const goBack = await rememberNow(stage);
    stage.clock.advance(5.5 * DAY_MS);
    await stage.renewKept();
    await goBack();
    await sql(stage, `select 1`);
    const { capture = assert.fail() } = await shop.capture(hold, 1_000n);
    assert(capture);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 1000/0/9000/0/0');
  });

  it('does not take over what was overtaken before another renewal', async () => {
    const hold = await keep();
    const goBack = await rememberNow(stage);
    await renew();
    await renew();
    const state = await stateOf(hold);
    await goBack();
    await beginReconciling(stage.database.query);
    await importAll();
    assert.deepEqual(await stateOf(hold), state);
  });
});
