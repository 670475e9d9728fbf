/** Renewals of kept holds are imported after the database went back in time, in their place among everything else. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Preauthorization } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { keptHolds } from '../../../../services/core/recovery/due-holds.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { workOnce } from '../work-once.ts';
import { chargeThere } from './charge-there.ts';
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
    ['released', (hold: Preauthorization) => shop.release(hold), 'CAPTURED 2000/0/0/8000/0 RELEASED'],
    ['captured in full', (hold: Preauthorization) => shop.capture(hold, 8_000n), 'CAPTURED 10000/0/0/0/0'],
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

  it('imports the void of an authorization whose renewal is known here', async () => {
    const hold = await keep();
    stage.clock.advance(5.5 * DAY_MS);
    await workOnce(keptHolds(stage.recovery));
    const goBack = await rememberNow(stage);
    await stage.renewKept();
    await stage.inquire();
    const state = await stateOf(hold);
    await goBack();
    const lines = await importAll();
    assert.match(lines.join('\n'), /^IMPORTED void approved/);
    assert.deepEqual(await stateOf(hold), state);
  });

  it('imports no capture on an authorization that was replaced; it is refunded there', async () => {
    const hold = await keep();
    stage.clock.advance(5.5 * DAY_MS);
    await stage.renewKept();
    chargeThere(stage, hold, 400, true);
    const { lines } = await decide({ importing: ['all'] });
    assert.match(lines.join('\n'), /^LEFT capture approved .*AMOUNT_EXCEEDS_HOLD/);
    const id = lines[0]?.split(' ')[3] ?? '';
    assert.equal((await decide({ refunding: [id] })).undone, 1);
    await stage.inquire();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await stage.audit(), []);
  });

  it('leaves alone that the processor ends what was replaced, and imports the end of what was not', async () => {
    const hold = await keep();
    stage.clock.advance(5.5 * DAY_MS);
    await stage.renewKept();
    const end = (requestId: string) =>
      atLedger('update entry set voided = amount - captured, endedAtMs = ? where requestId = ?', requestId);
    end(hold.requestId);
    assert.equal((await decide({ importing: ['all'] })).imported, 0);
    await stage.inquire();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await stage.audit(), []);
    const id = await presentOf(hold);
    end(id);
    await importAll();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  for (const [what, isKnown] of [
    ['a capture', true],
    ['no capture', false],
  ] as const) {
    it(`imports a reversal of ${what} on the authorization of a renewal`, async () => {
      const hold = await keep();
      await shop.capture(hold, 1_000n);
      await renew();
      const { capture = assert.fail() } = await shop.capture(hold, 2_000n);
      const id = await presentOf(hold);
      for (const of of isKnown ? [id, capture.requestId] : [id]) {
        atLedger('update entry set reversed = 300, changedAtMs = ? where requestId = ?', of);
      }
      assert.equal((await importAll()).length, 1);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 3000/0/7000/0/300');
    });
  }

  it('reads all authorizations of a hold when only one of them has changed', async () => {
    const hold = await keep();
    const { capture = assert.fail() } = await shop.capture(hold, 1_000n);
    await renew();
    await shop.capture(hold, 2_000n);
    const from = () => new Date(stage.clock.now());
    const decideFrom = (since: Date) => decideAt(stage, { importing: ['all'], ours: ['default'] }, undefined, since);
    stage.clock.advance(DAY_MS);
    const reversal = from();
    atLedger('update entry set reversed = 300, changedAtMs = ? where requestId = ?', await presentOf(hold));
    assert.equal((await decideFrom(reversal)).imported, 1);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 3000/0/7000/0/300');
    stage.clock.advance(DAY_MS);
    const refund = from();
    await shop.refund(capture, 100n);
    const { imported, left, lines } = await decideFrom(refund);
    assert.deepEqual([imported, left], [0, 0], lines.join('\n'));
  });

  async function presentOf({ requestId }: Preauthorization): Promise<string> {
    const text = 'select authorization_id as id from hold where request_id = $1';
    return (await sql<{ id: string }>(stage, text, [requestId]))[0]?.id ?? assert.fail();
  }

  function atLedger(text: string, requestId: string): void {
    const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    ledger.prepare(text).run(stage.clock.now(), requestId);
    ledger.close();
  }
});
