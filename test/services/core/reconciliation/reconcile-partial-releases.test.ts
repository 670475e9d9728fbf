/** Partial releases are imported after the database went back in time. */
import assert from 'node:assert/strict';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

const DAY_MS = 24 * 3_600_000;

describe('reconcile() with partial releases', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  beginAnew(stage);
  const decide = (decisions: Decisions) => decideAt(stage, decisions);
  const importAll = async () => {
    assert.notDeepEqual(await stage.audit(), []);
    const { lines, left } = await decide({ importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.deepEqual(await stage.audit(), []);
  };

  beforeEach(async () => {
    await shop.hold();
  });

  for (const what of ['known', 'lost']) {
    /** A hold that the database has lost, or not, and how it goes back. */
    async function holdToGoBack() {
      const early = what === 'known' ? await shop.hold() : undefined;
      const goBack = await rememberNow(stage);
      return { hold: early ?? (await shop.hold()), goBack };
    }

    it(`imports those of a hold that is ${what}, with what was added and captured between them`, async () => {
      const { hold, goBack } = await holdToGoBack();
      const key = { idempotencyKey: 'part' };
      const first = await shop.releasePart(hold, 2_000n, key);
      stage.clock.advance(1_000);
      await shop.increment(hold, 500n);
      await shop.capture(hold, 4_000n);
      await shop.releasePart(hold, 1_000n);
      const books = await shop.books(hold);
      assert.equal(books, 'PARTIALLY_CAPTURED 4000/0/3500/3000/0');
      await goBack();
      await importAll();
      assert.equal(await shop.books(hold), books);
      assert.deepEqual((await shop.results(hold)).toSorted(), [
        'authorized',
        'captured 4000',
        'incremented 500',
        'partially_released 1000',
        'partially_released 2000',
      ]);
      const again = await shop.releasePart(hold, 2_000n, key);
      assert.deepEqual(
        [again.requestId, again.amountReleased, again.replayed],
        [first.requestId, first.amountReleased, true],
      );
      assert.equal(await why(shop.releasePart(hold, 2_001n, key)), 'IDEMPOTENCY_KEY_REUSED');
      assert.equal(await why(shop.capture(hold, 3_501n)), 'AMOUNT_EXCEEDS_HOLD');
      await shop.capture(hold, 3_500n);
      assert.deepEqual(await stage.audit(), []);
    });

    it(`imports one of a hold that is ${what}, and the final capture that gave the rest back`, async () => {
      const { hold, goBack } = await holdToGoBack();
      await shop.releasePart(hold, 2_000n);
      await shop.capture(hold, 5_000n, { finalCapture: true });
      const books = await shop.books(hold);
      assert.equal(books, 'CAPTURED 5000/0/0/5000/0 FINAL');
      await goBack();
      await importAll();
      assert.equal(await shop.books(hold), books);
    });

    it(`imports one of a hold that is ${what}, and that the rest was captured, but not as final`, async () => {
      const { hold, goBack } = await holdToGoBack();
      await shop.releasePart(hold, 2_000n);
      await shop.capture(hold, 3_000n);
      await shop.capture(hold, 5_000n);
      const books = await shop.books(hold);
      await goBack();
      await importAll();
      assert.equal(await shop.books(hold), books);
    });

    it(`imports one of a hold that is ${what}, and the release of the rest`, async () => {
      const { hold, goBack } = await holdToGoBack();
      await shop.releasePart(hold, 2_000n);
      const rest = { idempotencyKey: 'rest' };
      const last = await shop.releasePart(hold, 8_000n, rest);
      const books = await shop.books(hold);
      assert.equal(books, 'RELEASED 0/0/0/10000/0 RELEASED');
      await goBack();
      await importAll();
      assert.equal(await shop.books(hold), books);
      const again = await shop.releasePart(hold, 8_000n, rest);
      assert.deepEqual([again.requestId, again.amountReleased], [last.requestId, 8_000n]);
    });
  }

  for (const [how, end, books] of [
    ['released', (hold: { requestId: string }) => shop.release(hold), 'RELEASED 0/0/0/10000/0 RELEASED'],
    ['expired', () => stage.expire(), 'EXPIRED 0/0/0/10000/0 EXPIRED'],
  ] as const) {
    it(`imports one of a hold that has ${how} here since`, async () => {
      const hold = await shop.hold();
      const goBack = await rememberNow(stage);
      await shop.releasePart(hold, 2_000n);
      await goBack();
      if (how === 'expired') stage.clock.advance(8 * DAY_MS);
      await end(hold);
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/2000/8000/0 frozen');
      await importAll();
      await stage.expire();
      assert.equal(await shop.books(hold), books);
      assert.deepEqual(await stage.audit(), []);
    });
  }

  it('imports one that the rest was captured after, here, as if nothing had been given back', async () => {
    const hold = await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.releasePart(hold, 2_000n);
    await goBack();
    await shop.capture(hold, 8_000n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 8000/0/2000/0/0');
    await importAll();
    assert.match(await shop.books(hold), /^CAPTURED 8000\/0\/0\/2000\/0/);
  });

  it('leaves what has no result yet to recovery', async () => {
    const hold = await shop.hold({ tokenId: 'tok_sandbox_decrease_accepted' });
    const goBack = await rememberNow(stage);
    await shop.releasePart(hold, 2_000n);
    await goBack();
    const { lines } = await decide({ importing: ['all'] });
    assert.match(lines.join('\n'), /^IMPORTED decrease accepted/);
    assert.equal(await why(shop.capture(hold, 1n)), 'CAPTURE_IN_FLIGHT');
    stage.clock.advance(60_000);
    await stage.sandbox.reportDue();
    await stage.inquire();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/8000/2000/0');
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports one with its lost hold when only it is named', async () => {
    const goBack = await rememberNow(stage);
    const hold = await shop.hold();
    const part = await shop.releasePart(hold, 2_000n);
    await goBack();
    const { lines, left } = await decide({ importing: [part.requestId] });
    assert.equal(left, 0, lines.join('\n'));
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/8000/2000/0');
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports one that an increment had made room for', async () => {
    const hold = await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.capture(hold, 9_000n);
    await shop.increment(hold, 4_000n);
    await shop.releasePart(hold, 3_000n);
    const books = await shop.books(hold);
    await goBack();
    await importAll();
    assert.equal(await shop.books(hold), books);
  });
});
