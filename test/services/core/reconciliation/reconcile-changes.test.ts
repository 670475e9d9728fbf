/** Increments and extensions are imported after the database went back in time. */
import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

const DAY_MS = 24 * 3_600_000;

describe('reconcile() with increments and extensions', () => {
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

    it(`imports an increment of a hold that is ${what}, and what was captured of it`, async () => {
      const { hold, goBack } = await holdToGoBack();
      const key = { idempotencyKey: 'increment' };
      const first = await shop.increment(hold, 2_000n, key);
      stage.clock.advance(1_000);
      await shop.increment(hold, 500n);
      await shop.capture(hold, 11_000n);
      const books = await shop.books(hold);
      assert.equal(books, 'PARTIALLY_CAPTURED 11000/0/1500/0/0');
      await goBack();
      await importAll();
      assert.equal(await shop.books(hold), books);
      assert.equal((await shop.get(hold)).amount, 12_500n);
      assert.deepEqual(await shop.increment(hold, 2_000n, key), { ...first, replayed: true });
      assert.equal(await why(shop.increment(hold, 2_001n, key)), 'IDEMPOTENCY_KEY_REUSED');
      const results = ['authorized', 'incremented 2000', 'incremented 500', 'captured 11000'];
      assert.deepEqual(await shop.results(hold), results);
    });

    it(`imports an extension of a hold that is ${what}`, async () => {
      const { hold, goBack } = await holdToGoBack();
      stage.clock.advance(3 * DAY_MS);
      const key = { idempotencyKey: 'extension' };
      const first = await shop.extend(hold, key);
      const end = stage.clock.now() + 7 * DAY_MS;
      await goBack();
      stage.clock.advance(DAY_MS);
      await importAll();
      const { expiresAt } = await shop.get(hold);
      assert.equal(expiresAt && timestampMs(expiresAt), end);
      assert.deepEqual(await shop.extend(hold, key), { ...first, replayed: true });
    });
  }

  it('imports an extension of a hold that would have ended here meanwhile', async () => {
    const hold = await shop.hold();
    stage.clock.advance(3 * DAY_MS);
    const goBack = await rememberNow(stage);
    await shop.extend(hold);
    await goBack();
    stage.clock.advance(5 * DAY_MS);
    await importAll();
    assert.equal(await stage.expire(), 1, 'the other one');
    await shop.capture(hold, 300n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
  });

  for (const [end, books] of [
    [(hold: { requestId: string }) => shop.release(hold), 'RELEASED 0/0/0/12000/0 RELEASED frozen'],
    [() => stage.expire(), 'EXPIRED 0/0/0/12000/0 EXPIRED frozen'],
  ] as const) {
    it(`imports an increment of a hold that has ended here since: ${books}`, async () => {
      const hold = await shop.hold();
      const goBack = await rememberNow(stage);
      await shop.increment(hold, 2_000n);
      await goBack();
      if (books.startsWith('EXPIRED')) stage.clock.advance(8 * DAY_MS);
      await end(hold);
      await importAll();
      assert.equal(await shop.books(hold), books);
    });
  }

  it('opens a hold again that was captured whole here since: what was added is given back at its end', async () => {
    const hold = await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.increment(hold, 2_000n);
    await goBack();
    await shop.capture(hold, 10_000n);
    assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
    await importAll();
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 10000/0/2000/0/0');
    stage.clock.advance(8 * DAY_MS);
    await stage.expire();
    assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/2000/0 EXPIRED');
    assert.deepEqual(await stage.audit(), []);
  });

  it('leaves what has no result yet to recovery', async () => {
    for (const [token, change] of [
      ['tok_sandbox_increment_accepted', (hold: { preauthorizationId: string }) => shop.increment(hold, 2_000n)],
      ['tok_sandbox_extension_accepted', (hold: { preauthorizationId: string }) => shop.extend(hold)],
    ] as const) {
      const hold = await shop.hold({ tokenId: token });
      const goBack = await rememberNow(stage);
      await change(hold);
      await goBack();
      const { lines } = await decide({ importing: ['all'] });
      assert.match(lines.join('\n'), /^IMPORTED (increment|extension) accepted/);
      assert.equal(await why(shop.extend(hold)), 'CAPTURE_IN_FLIGHT');
      stage.clock.advance(60_000);
      await stage.sandbox.reportDue();
      await stage.inquire();
      const amount = token.includes('increment') ? 12_000 : 10_000;
      assert.equal(await shop.books(hold), `IN_PROGRESS 0/0/${amount}/0/0`);
      assert.deepEqual(await stage.audit(), []);
    }
  });

  it('imports a lost hold with all that was added to it, which is released like any other', async () => {
    const goBack = await rememberNow(stage);
    const hold = await shop.hold();
    await shop.increment(hold, 2_000n);
    await shop.extend(hold);
    await goBack();
    const { lines, left } = await decide({ importing: [hold.requestId] });
    assert.equal(left, 0, lines.join('\n'));
    await shop.release(hold);
    assert.equal(await shop.books(hold), 'RELEASED 0/0/0/12000/0 RELEASED');
    assert.deepEqual(await stage.audit(), []);
  });

  for (const named of ['hold', 'increment', 'capture']) {
    it(`imports them with their lost hold when only its ${named} is named`, async () => {
      const goBack = await rememberNow(stage);
      const hold = await shop.hold();
      const increment = await shop.increment(hold, 2_000n);
      await shop.extend(hold);
      const { capture = assert.fail() } = await shop.capture(hold, 11_000n);
      await goBack();
      await decide({ importing: [{ hold, increment, capture }[named]?.requestId ?? ''] });
      const captured = named === 'capture' ? 'PARTIALLY_CAPTURED 11000/0/1000/0/0' : 'IN_PROGRESS 0/0/12000/0/0';
      assert.equal(await shop.books(hold), captured);
      const extended = named === 'increment' ? [] : ['extended 0'];
      assert.deepEqual((await shop.results(hold)).slice(0, 2 + extended.length), [
        'authorized',
        'incremented 2000',
        ...extended,
      ]);
    });
  }

  it('imports the increment that a capture of a known hold needs', async () => {
    const hold = await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.increment(hold, 2_000n);
    const { capture = assert.fail() } = await shop.capture(hold, 11_000n);
    await goBack();
    const { lines, left } = await decide({ importing: [capture.requestId] });
    assert.equal(left, 0, lines.join('\n'));
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 11000/0/1000/0/0');
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports a capture that was refunded, for which only a lost increment has room', async () => {
    const hold = await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.increment(hold, 2_000n);
    const { capture = assert.fail() } = await shop.capture(hold, 11_000n);
    await shop.refund(capture);
    const books = await shop.books(hold);
    await goBack();
    await importAll();
    assert.equal(await shop.books(hold), books);
  });
});
