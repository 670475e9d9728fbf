/** A hold that somebody charges in Stripe's dashboard: core freezes it, and an operator imports the capture. */
import assert from 'node:assert/strict';
import { forEachTest } from '../../suite.ts';
import { decideAt } from '../core/reconciliation/decide.ts';
import { sql } from '../core/shop.ts';
import { why } from '../core/stage.ts';
import { captureIntent } from './fake/payment-intents.ts';
import { intentOf, startFixture } from './fixture.ts';
import { useCore } from './use-core.ts';

describe("a capture in Stripe's dashboard, through core", () => {
  const fixture = forEachTest(startFixture);
  const { stage, acme, tell } = useCore(fixture, forEachTest);

  for (const [amount, after, more] of [
    [10_000n, 'CAPTURED 10000/0/0/0/0', 'HOLD_CAPTURED'],
    [4_000n, 'CAPTURED 4000/0/0/6000/0 EXPIRED', 'HOLD_EXPIRED'],
  ] as const) {
    it(`of ${amount} of 10000 freezes the hold, and is imported`, async () => {
      const hold = await acme.hold({ tokenId: 'pm_card_visa' });
      captureIntent(fixture.stripe.account(), intentOf(fixture, hold.requestId).id, {
        amount_to_capture: String(amount),
      });
      assert.equal(await tell('foreignCapture'), 1);
      assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
      assert.equal(await why(acme.capture(hold, 100n)), 'HOLD_FROZEN');
      const { lines, left } = await decideAt(stage, { importing: ['all'] });
      assert.equal(left, 0, lines.join('\n'));
      assert.equal(await acme.books(hold), after);
      assert.equal(await why(acme.capture(hold, 100n)), more);
      assert.deepEqual(await stage.audit(), []);
      const [notified] = await sql<{ body: string }>(
        stage,
        `select convert_from(body, 'UTF8') as body from delivery where body like '%"CAPTURE"%'`,
      );
      const { operation, amount: charged, holdRequestId, imported } = JSON.parse(notified?.body ?? '{}');
      assert.deepEqual(
        [operation, charged, holdRequestId, imported],
        ['CAPTURE', Number(amount), hold.requestId, true],
      );
    });
  }
});
