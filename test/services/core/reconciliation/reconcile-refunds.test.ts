/** Refunds are imported after the database went back in time. */
import assert from 'node:assert/strict';
import type { Processors } from '../../../../services/core/processor/processors.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage, type Stage, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

describe('reconcile() with refunds', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  beginAnew(stage);
  const decide = (decisions?: Decisions) => decideAt(stage, decisions);

  for (const isCaptureKnown of [true, false]) {
    for (const amount of [100n, 300n]) {
      it(`imports a refund of ${amount} of a capture of 300 that is ${isCaptureKnown ? 'known' : 'lost'}`, async () => {
        const hold = await shop.hold();
        const capturing = () => shop.capture(hold, 300n);
        const known = isCaptureKnown ? await capturing() : undefined;
        const goBack = await rememberNow(stage);
        const { capture = assert.fail() } = known ?? (await capturing());
        const fields = { idempotencyKey: 'refund' };
        const { refund = assert.fail() } = await shop.refund(capture, amount, fields);
        const books = await shop.books(hold);
        assert.equal(books, `PARTIALLY_CAPTURED 300/0/9700/0/0 refunded ${amount}`);
        await goBack();
        assert.notDeepEqual(await stage.audit(), []);
        const { lines, left } = await decide({ importing: ['all'] });
        assert.equal(left, 0, lines.join('\n'));
        assert.equal(await shop.books(hold), books);
        assert.deepEqual(await stage.audit(), []);
        const again = await shop.refund(capture, amount, fields);
        assert.deepEqual([again.replayed, again.refund?.requestId], [true, refund.requestId]);
        assert.equal(await why(shop.refund(capture, 1n, fields)), 'IDEMPOTENCY_KEY_REUSED');
        assert.equal(stage.oracle.find(capture.requestId)?.refunded, Number(amount));
      });
    }
  }

  it('books a capture once that was imported meanwhile', async () => {
    const hold = await shop.hold();
    const goBack = await rememberNow(stage);
    const { capture = assert.fail() } = await shop.capture(hold, 300n);
    await goBack();
    const { settings, recovery } = stage;
    const { processors } = recovery;
    const of: Processors['of'] = (row) => ({
      ...processors.of(row),
      async inquire(asked) {
        assert.equal((await decide({ importing: ['all'] })).left, 0);
        return processors.of(row).inquire(asked);
      },
    });
    const slow = { settings, recovery: { ...recovery, processors: { ...processors, of } } } as Stage;
    const { lines } = await decideAt(slow, { importing: ['all'] });
    assert.match(lines.join('\n'), /^LEFT capture .*: it is known here by now$/);
    assert.equal(stage.oracle.find(capture.requestId)?.refunded, 0);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    assert.deepEqual(await stage.audit(), []);
  });

  it('leaves a refund that has no result yet to recovery', async () => {
    const capture = await shop.captured(300n, { tokenId: 'tok_sandbox_refund_accepted' });
    const goBack = await rememberNow(stage);
    await shop.refund(capture, 100n);
    await goBack();
    const { lines } = await decide({ importing: ['all'] });
    assert.match(lines.join('\n'), /^IMPORTED refund accepted/);
    assert.equal(await why(shop.refund(capture, 300n)), 'CAPTURE_NOT_SETTLED');
    stage.clock.advance(60_000);
    await stage.sandbox.reportDue();
    await stage.inquire();
    const books = await shop.books({ requestId: capture.holdRequestId });
    assert.equal(books, 'PARTIALLY_CAPTURED 300/0/9700/0/0 refunded 100');
    assert.deepEqual(await stage.audit(), []);
  });
});
