/**
 * What was taken back of captures, and given again, is imported after the database went back in time, and booked once.
 */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

describe('reconcile() with reversals', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  beginAnew(stage);
  const decide = (decisions?: Decisions) => decideAt(stage, decisions);
  const drifts = () => stage.audit();

  for (const [token, reversed, entriesWhenLost] of [
    ['tok_sandbox_reversed', 300, 1],
    ['tok_sandbox_reversed_in_part', 150, 1],
    // The reversal is an entry of its own: it stands in the books of the authorization alone.
    ['tok_sandbox_reversed_unattributed', 300, 2],
  ] as const) {
    for (const isCaptureKnown of [true, false]) {
      it(`imports the reversal of a capture that is ${isCaptureKnown ? 'known' : 'lost'} (${token})`, async () => {
        const hold = await shop.hold({ tokenId: token });
        if (isCaptureKnown) await shop.capture(hold, 300n);
        const goBack = await rememberNow(stage);
        if (!isCaptureKnown) await shop.capture(hold, 300n);
        stage.clock.advance(3_000);
        await stage.sandbox.reportDue();
        const books = `PARTIALLY_CAPTURED 300/0/9700/0/${reversed}`;
        assert.equal(await shop.books(hold), books);
        await goBack();
        const { imported } = await decide({ importing: ['all'] });
        assert.equal(imported, isCaptureKnown ? 1 : entriesWhenLost);
        assert.equal(await shop.books(hold), books);
        assert.deepEqual(await drifts(), []);
      });
    }
  }

  for (const token of ['tok_sandbox_reversed_in_part', 'tok_sandbox_reversed_unattributed']) {
    for (const lost of ['refund', 'refund and its capture']) {
      it(`imports a lost ${lost}, reversed after the refund (${token})`, async () => {
        const hold = await shop.hold({ tokenId: token });
        const capture = async () => (await shop.capture(hold, 300n)).capture ?? assert.fail();
        const known = lost === 'refund' ? await capture() : undefined;
        const goBack = await rememberNow(stage);
        await shop.refund(known ?? (await capture()));
        stage.clock.advance(3_000);
        await stage.sandbox.reportDue();
        const before = await shop.get(hold);
        assert.equal(before.amountRefunded, 300n);
        await goBack();
        const { lines, left } = await decide({ importing: ['all'] });
        assert.equal(left, 0, lines.join('\n'));
        const { amountRefunded, amountReversed } = await shop.get(hold);
        assert.deepEqual([amountRefunded, amountReversed], [300n, before.amountReversed]);
        assert.deepEqual(await drifts(), []);
      });
    }
  }

  for (const isNamed of [true, false]) {
    it(`books a reversal once that comes again, by its ${isNamed ? 'capture' : 'hold'}, after import`, async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_reversed_in_part' });
      const { capture } = await shop.capture(hold, 300n);
      const captureRequestId = capture?.requestId ?? '';
      const goBack = await rememberNow(stage);
      stage.clock.advance(3_000);
      await stage.sandbox.reportDue();
      await goBack();
      await decide({ importing: ['all'] });
      const of = isNamed ? { captureRequestId } : { authorizationRequestId: hold.requestId };
      const value = { ...of, amount: 150n, reference: 'again' };
      const { events } = stage.channel('processor');
      const again = { eventId: `reversal-${captureRequestId}`, occurredAt: timestampNow() };
      await events.reportEvent({ ...again, event: { case: 'captureReversed', value } });
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/150');
      assert.deepEqual(await drifts(), []);
    });
  }

  it('books the next reversal, whatever its event is called', async () => {
    const hold = await shop.hold({ tokenId: 'tok_sandbox_reversed_in_part' });
    const { capture } = await shop.capture(hold, 300n);
    const captureRequestId = capture?.requestId ?? '';
    const goBack = await rememberNow(stage);
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    await goBack();
    await decide({ importing: ['all'] });
    const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    ledger.exec(`update entry set reversed = 250 where requestId in ('${captureRequestId}', '${hold.requestId}')`);
    ledger.close();
    const value = { captureRequestId, amount: 100n, reference: 'next' };
    const next = { eventId: `reconciled-${captureRequestId}`, occurredAt: timestampNow() };
    const { events } = stage.channel('processor');
    await events.reportEvent({ ...next, event: { case: 'captureReversed', value } });
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/250');
    assert.deepEqual(await drifts(), []);
  });

  for (const isNamed of [true, false]) {
    it(`imports a reversal by its ${isNamed ? 'capture' : 'hold'} beside an open refund`, async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_refund_timeout_lost' });
      const { capture = assert.fail() } = await shop.capture(hold, 300n);
      await shop.refund(capture, 100n);
      const ids = isNamed ? [capture.requestId, hold.requestId] : [hold.requestId];
      const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
      for (const id of ids) ledger.prepare('update entry set reversed = 250 where requestId = ?').run(id);
      ledger.close();
      const { lines, imported, left } = await decide({ importing: ['all'] });
      assert.deepEqual([imported, left], [1, 0], lines.join('\n'));
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/250');
      stage.clock.advance(61_000);
      await stage.inquire();
      assert.deepEqual(await drifts(), []);
    });
  }

  it('imports what was given again of a capture', async () => {
    const hold = await shop.hold({ tokenId: 'tok_sandbox_reversed_reinstated' });
    await shop.capture(hold, 300n);
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/300');
    const goBack = await rememberNow(stage);
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    await goBack();
    const { lines, imported } = await decide({ importing: ['all'] });
    assert.equal(imported, 1, lines.join('\n'));
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    assert.deepEqual(await drifts(), []);
  });
});
