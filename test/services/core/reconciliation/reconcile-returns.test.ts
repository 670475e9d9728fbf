/** What came back of refunds and OCTs is imported after the database went back in time, booked once, and audited. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

describe('reconcile() with returns', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  beginAnew(stage);
  const decide = (decisions?: Decisions) => decideAt(stage, decisions);
  const kindsOf = async () => (await stage.audit()).map(({ kind }) => kind).sort();
  const letComeBack = async () => {
    stage.clock.advance(3_000);
    await stage.sandbox.reportDue();
  };

  for (const isRefundKnown of [true, false]) {
    it(`imports what came back of a refund that is ${isRefundKnown ? 'known' : 'lost'}`, async () => {
      const capture = await shop.captured(300n, { tokenId: 'tok_sandbox_refund_returned_in_part' });
      const books = () => shop.books({ requestId: capture.holdRequestId });
      if (isRefundKnown) await shop.refund(capture, 200n);
      const goBack = await rememberNow(stage);
      if (!isRefundKnown) await shop.refund(capture, 200n);
      await letComeBack();
      const before = await books();
      assert.match(before, /refunded 100$/);
      await goBack();
      const { imported, left, lines } = await decide({ importing: ['all'] });
      assert.deepEqual([imported, left], [1, 0], lines.join('\n'));
      assert.equal(await books(), before);
      assert.deepEqual(await stage.audit(), []);
      const results = (await shop.results({ requestId: capture.holdRequestId })).slice(2);
      assert.deepEqual(results, ['refunded 200', 'refund_returned 100']);
    });

    it(`imports what came back of an OCT that is ${isRefundKnown ? 'known' : 'lost'}, and books its event once`, async () => {
      const tokenId = 'tok_sandbox_oct_returned';
      await shop.hold();
      const first = isRefundKnown ? await shop.oct({ tokenId }) : undefined;
      const goBack = await rememberNow(stage);
      const requestId = (first ?? (await shop.oct({ tokenId }))).oct?.requestId ?? '';
      await letComeBack();
      await goBack();
      const { imported, left, lines } = await decide({ importing: ['all'] });
      assert.deepEqual([imported, left], [1, 0], lines.join('\n'));
      assert.equal((await shop.getOct(requestId)).oct?.amountReturned, 700n);
      const value = { creditRequestId: requestId, amount: 700n, reference: 'again' };
      const event = { case: 'creditReturned', value } as const;
      const again = { eventId: `again-${requestId}`, occurredAt: timestampNow(), event };
      await stage.channel('processor').events.reportEvent(again);
      assert.equal((await shop.getOct(requestId)).oct?.amountReturned, 700n);
      assert.deepEqual(await stage.audit(), []);
    });
  }

  it('is found by the audit when only one side knows of it, or the log does not', async () => {
    const capture = await shop.captured(300n);
    const refund = (await shop.refund(capture, 200n)).refund?.requestId ?? '';
    const oct = (await shop.oct()).oct?.requestId ?? '';
    const there = (amount: number, about: string) => {
      const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
      ledger.prepare('update entry set returned = ? where requestId = ?').run(amount, about);
      ledger.close();
    };
    for (const about of [refund, oct]) {
      there(200, about);
      // All of the refund came back there, and a part of the OCT.
      assert.deepEqual(await kindsOf(), [about === oct ? 'AMOUNT_AT_PROCESSOR' : 'NOT_DONE_AT_PROCESSOR']);
      there(0, about);
    }
    await sql(stage, 'update submission set amount_returned = 1 where request_id = $1', [oct]);
    assert.deepEqual(await kindsOf(), ['AMOUNT_AT_PROCESSOR', 'RETURNS_DIFFER']);
    await sql(stage, 'update submission set amount_returned = 0 where request_id = $1', [oct]);
    assert.deepEqual(await stage.audit(), []);
  });

  it('counts a refund that the processor calls not done as one that came back whole', async () => {
    const capture = await shop.captured(300n, { tokenId: 'tok_sandbox_refund_returned' });
    const refund = (await shop.refund(capture, 200n)).refund?.requestId ?? '';
    await letComeBack();
    const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    ledger.prepare('update entry set answer = 3, returned = 0 where requestId = ?').run(refund);
    ledger.close();
    assert.deepEqual(await stage.audit(), []);
    assert.equal((await decide({ importing: ['all'] })).left, 0);
  });
});
