/** A capture that the database has lost is imported although its hold has ended here meanwhile: nobody is refunded. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { beginReconciling } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, payAt, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

/** The sandbox's card whose authorization the issuer ends after two seconds. */
const ENDED_EARLY = '4000 0000 0000 5118';

describe('reconcile() on holds that have ended', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme', { holdPeriod: { seconds: 3_600n } }));
  beginAnew(stage);

  /**
   * The void of the end gave back less than was left here, so the hold is frozen until the import explains it. Loses a
   * capture of 300, lets the hold end, and imports the capture. Returns the books, and what its merchant was told.
   */
  async function importInto(end: (hold: { requestId: string }) => Promise<unknown>, finalCapture: boolean) {
    const hold = await acme.hold();
    const goBack = await rememberNow(stage);
    const fields = { idempotencyKey: randomUUID(), finalCapture };
    const first = await acme.capture(hold, 300n, fields);
    await goBack();
    await end(hold);
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    const again = await acme.capture(hold, 300n, fields);
    assert.equal(again.replayed, true);
    assert.deepEqual(
      [again.capture?.requestId, again.capture?.state],
      [first.capture?.requestId, first.capture?.state],
    );
    assert.deepEqual(await stage.audit(), []);
    assert(!stage.oracle.entries().some(({ kind }) => kind === 'refund'));
    await stage.expire();
    assert.deepEqual(await stage.audit(), []);
    return [await acme.books(hold), ...(await acme.results(hold)).slice(1)];
  }

  async function expire() {
    stage.clock.advance(3_601_000);
    await stage.expire();
  }

  it('imports the expiry of a hold at its releaseAt', async () => {
    const hold = await acme.hold({ releaseAt: timestampFromMs(stage.clock.now() + 60_000) });
    const goBack = await rememberNow(stage);
    stage.clock.advance(61_000);
    await stage.expire();
    const books = await acme.books(hold);
    await goBack();
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.deepEqual([await acme.books(hold), books], Array(2).fill('EXPIRED 0/0/0/10000/0 EXPIRED'));
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports a final capture of a hold that has expired', async () => {
    assert.deepEqual(await importInto(expire, true), ['CAPTURED 300/0/0/9700/0 FINAL', 'captured 300']);
  });

  it('imports a part of a hold that has expired', async () => {
    const told = ['captured 300', 'expired 9700'];
    assert.deepEqual(await importInto(expire, false), ['CAPTURED 300/0/0/9700/0 EXPIRED', ...told]);
  });

  it('imports a part of a hold that was released', async () => {
    const told = ['released 9700', 'captured 300'];
    const ended = await importInto((hold) => acme.release(hold), false);
    assert.deepEqual(ended, ['CAPTURED 300/0/0/9700/0 FINAL', ...told]);
  });

  it('imports a final capture of a hold whose release had nothing to give back', async () => {
    const told = ['released 0', 'captured 300'];
    const ended = await importInto((hold) => acme.release(hold), true);
    assert.deepEqual(ended, ['CAPTURED 300/0/0/9700/0 FINAL', ...told]);
  });

  it('imports the release of a hold that was released again here, which gave nothing back and froze it', async () => {
    const hold = await acme.hold();
    const goBack = await rememberNow(stage);
    await acme.release(hold);
    await goBack();
    await acme.release(hold);
    assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    await beginReconciling(stage.recovery.database.query);
    const { lines, ended } = await decideAt(stage, { importing: ['all'] });
    assert(ended, lines.join('\n'));
    assert.equal(await acme.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports a release that has no result yet', async () => {
    const hold = await acme.hold({ tokenId: 'tok_sandbox_void_accepted' });
    const goBack = await rememberNow(stage);
    const first = await acme.release(hold, { idempotencyKey: 'release' });
    await goBack();
    await beginReconciling(stage.recovery.database.query);
    const { lines, ended } = await decideAt(stage, { importing: ['all'] });
    assert(ended, lines.join('\n'));
    assert.match(lines.join('\n'), /^IMPORTED void accepted /);
    stage.clock.advance(60_000);
    await stage.sandbox.reportDue();
    assert.equal(await acme.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
    const again = await acme.release(hold, { idempotencyKey: 'release' });
    assert.equal(again.requestId, first.requestId);
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports all captures of a hold that one of them has closed', async () => {
    const hold = await acme.hold();
    const goBack = await rememberNow(stage);
    await acme.capture(hold, 300n);
    await acme.capture(hold, 400n);
    await goBack();
    await acme.capture(hold, 500n, { finalCapture: true });
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.equal(await acme.books(hold), 'CAPTURED 1200/0/0/8800/0 FINAL');
    assert.deepEqual(await stage.audit(), []);
  });

  /** A hold that has failed here, of which 300 was captured in what was lost. */
  async function failedWithLostCapture() {
    const { preauthorization: hold } = await acme.checkout();
    assert(hold);
    const goBack = await rememberNow(stage);
    await payAt(hold.checkoutUrl);
    await acme.capture(await acme.get(hold), 300n);
    await goBack();
    await acme.release(hold);
    return hold;
  }

  it('refunds a capture of a hold that has failed here, because it cannot be imported', async () => {
    const hold = await failedWithLostCapture();
    assert.equal(await acme.books(hold), 'FAILED FAILED 0/0/0/0/0');
    const { lines } = await decideAt(stage, { importing: ['all'] });
    assert.match(lines.join('\n'), /^LEFT capture .*: the hold \S+ has no room for it: HOLD_NOT_PLACED$/m);
    const capture = stage.oracle.entries().find(({ kind }) => kind === 'capture') ?? assert.fail();
    const done = await decideAt(stage, { refunding: [capture.requestId] });
    assert.match(done.lines.join('\n'), /^REFUNDED capture .*; nothing is booked/m);
    assert.equal(stage.oracle.entries().filter(({ kind }) => kind === 'refund').length, 1);
    assert.deepEqual(await stage.audit(), []);
  });

  it('leaves nothing of such a capture that the card scheme has taken back', async () => {
    const hold = await failedWithLostCapture();
    const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    ledger.exec(`update entry set reversed = 300 where kind = 'capture' or requestId = '${hold.requestId}'`);
    ledger.close();
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports a capture that has no result yet', async () => {
    const hold = await acme.hold({ tokenId: 'tok_sandbox_capture_accepted' });
    const goBack = await rememberNow(stage);
    await acme.capture(hold, 300n, { finalCapture: true });
    await goBack();
    await expire();
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.deepEqual(await stage.audit(), []);
  });

  for (const [when, laterMs] of Object.entries({ 'is open': 0, 'has run out since': 48 * 3_600_000 })) {
    it(`waits for what was paid at a checkout that ${when} before it imports what was given back of it`, async () => {
      await acme.hold();
      const { preauthorization: hold = assert.fail() } = await acme.checkout();
      const goBack = await rememberNow(stage);
      await payAt(hold.checkoutUrl);
      await acme.capture(await acme.get(hold), 300n);
      await acme.release(hold);
      const books = await acme.books(hold);
      await goBack();
      await beginReconciling(stage.recovery.database.query);
      stage.clock.advance(laterMs);
      const { lines, left } = await decideAt(stage, { importing: ['all'] });
      assert.equal(left, 2, lines.join('\n'));
      await stage.expire();
      await stage.inquire();
      assert.equal((await decideAt(stage, { importing: ['all'] })).ended, true);
      assert.deepEqual([await acme.books(hold), books], Array(2).fill('CAPTURED 300/0/0/9700/0 RELEASED'));
      assert.deepEqual(await stage.audit(), []);
    });
  }

  for (const token of ['tok_sandbox_reversed_unattributed', 'tok_sandbox_ended_early']) {
    it(`does not end before it has imported what became of a lost hold: ${token}`, async () => {
      await acme.hold();
      const goBack = await rememberNow(stage);
      const hold = await acme.hold({ tokenId: token });
      await acme.capture(hold, 300n).catch(() => undefined);
      stage.clock.advance(3_000);
      await stage.sandbox.reportDue();
      const books = await acme.books(hold);
      await goBack();
      await beginReconciling(stage.recovery.database.query);
      const { lines, left, ended } = await decideAt(stage, { importing: ['all'] });
      assert.match(lines.at(-1) ?? '', /^UNKNOWN (reversal|end) /);
      assert.deepEqual([left, ended], [1, false]);
      assert.equal((await decideAt(stage, { importing: ['all'] })).ended, true);
      assert.equal(await acme.books(hold), books);
      assert.deepEqual(await stage.audit(), []);
    });
  }

  it('does not end before it has imported that a lost hold had ended', async () => {
    await acme.hold();
    const goBack = await rememberNow(stage);
    const hold = await acme.hold({ tokenId: 'tok_sandbox_ended_early' });
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    await goBack();
    await beginReconciling(stage.recovery.database.query);
    const given = await decideAt(stage, { importing: [hold.requestId] });
    assert.match(given.lines.at(-1) ?? '', /^UNKNOWN end /);
    assert.deepEqual([given.left, given.ended], [1, false]);
    assert.equal((await decideAt(stage, { importing: ['all'] })).ended, true);
    assert.equal(await acme.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  it('waits for what was paid at a checkout before it imports that its authorization has ended', async () => {
    await acme.hold();
    const { preauthorization: hold = assert.fail() } = await acme.checkout();
    const goBack = await rememberNow(stage);
    await payAt(hold.checkoutUrl, { number: ENDED_EARLY });
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    const books = await acme.books(hold);
    await goBack();
    await beginReconciling(stage.recovery.database.query);
    const { lines, left, ended } = await decideAt(stage, { importing: ['all'] });
    assert.match(lines.join('\n'), /^LEFT end .*: the hold \S+ is not placed here yet: reconcile again later$/);
    assert.deepEqual([left, ended], [1, false]);
    await stage.inquire();
    assert.equal((await decideAt(stage, { importing: ['all'] })).ended, true);
    assert.deepEqual([await acme.books(hold), books], Array(2).fill('EXPIRED 0/0/0/10000/0 EXPIRED'));
    assert.deepEqual(await stage.audit(), []);
  });

  it('names once what became of a hold that is here when another one is imported', async () => {
    const here = await acme.hold({ tokenId: 'tok_sandbox_reversed_unattributed' });
    await acme.capture(here, 300n);
    const goBack = await rememberNow(stage);
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    const lost = await acme.hold();
    await goBack();
    const { lines, left } = await decideAt(stage, { importing: [lost.requestId] });
    assert.deepEqual(lines.map((line) => line.split(' ').slice(0, 2).join(' ')).sort(), [
      'IMPORTED authorization',
      'UNKNOWN reversal',
    ]);
    assert.equal(left, 1);
  });

  it('neither imports nor refunds a capture of a hold that has no result yet here, until it has one', async () => {
    await acme.hold();
    const { preauthorization: hold = assert.fail() } = await acme.place({ tokenId: 'tok_sandbox_accepted' });
    const goBack = await rememberNow(stage);
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    await acme.capture(await acme.get(hold), 300n);
    await goBack();
    await beginReconciling(stage.recovery.database.query);
    const first = await decideAt(stage, { importing: ['all'] });
    assert.match(first.lines.join('\n'), /^LEFT capture .* is not placed here yet: reconcile again later$/);
    const capture = stage.oracle.entries().find(({ kind }) => kind === 'capture') ?? assert.fail();
    const refunding = await decideAt(stage, { refunding: [capture.requestId] });
    assert.match(refunding.lines.join('\n'), /^LEFT capture .*: its hold may have room for it/);
    stage.clock.advance(61_000);
    await stage.inquire();
    assert.equal((await decideAt(stage, { importing: ['all'] })).ended, true);
    assert.equal(await acme.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports what was captured and refunded of a checkout whose payment is found later', async () => {
    await acme.hold();
    const { preauthorization: hold = assert.fail() } = await acme.checkout();
    const goBack = await rememberNow(stage);
    await payAt(hold.checkoutUrl);
    const { capture = assert.fail() } = await acme.capture(await acme.get(hold), 300n);
    await acme.refund(capture);
    await goBack();
    await beginReconciling(stage.recovery.database.query);
    const { left, ended } = await decideAt(stage, { importing: ['all'] });
    assert.deepEqual([left, ended], [2, false]);
    await stage.inquire();
    assert.equal((await decideAt(stage, { importing: ['all'] })).ended, true);
    assert.equal(await acme.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0 refunded 300');
    assert.deepEqual(await stage.audit(), []);
  });

  it('finds what was paid at a checkout whose page has run out since', async () => {
    await acme.hold();
    const { preauthorization: hold = assert.fail() } = await acme.checkout();
    const goBack = await rememberNow(stage);
    await payAt(hold.checkoutUrl);
    await acme.capture(await acme.get(hold), 300n);
    await goBack();
    stage.clock.advance(1_801_000);
    await beginReconciling(stage.recovery.database.query);
    await stage.inquire();
    const { lines, ended } = await decideAt(stage, { importing: ['all'] });
    assert(ended, lines.join('\n'));
    assert.equal(await acme.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    assert.deepEqual(await stage.audit(), []);
  });

  const FORGET_PAGE = 'update hold set checkout_url_ciphertext = null';

  for (const [page, loss] of Object.entries({ known: 'select', lost: FORGET_PAGE }))
    it(`finds what was paid at a checkout whose page is ${page}, also when reconciling has ended before`, async () => {
      const { preauthorization: hold } = await acme.checkout();
      assert(hold);
      const goBack = await rememberNow(stage);
      await payAt(hold.checkoutUrl);
      const placed = await acme.books(hold);
      await goBack();
      await sql(stage, loss);
      await beginReconciling(stage.recovery.database.query);
      const { ended, lines } = await decideAt(stage, { importing: ['all'] });
      assert(ended, lines.join('\n'));
      await stage.inquire();
      assert.equal(await acme.books(hold), placed);
    });
});
