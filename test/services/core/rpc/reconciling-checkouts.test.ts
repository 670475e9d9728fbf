/**
 * Checkouts after the database went back in time: what became of them is found out at once, and what is lost is
 * imported or closed.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { inNameOf } from '../../../../services/core/storage/audit-log/actor.ts';
import { moveSequencesAhead, noticeTimeline } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { decideAt } from '../reconciliation/decide.ts';
import { openMerchant, payAt, sql } from '../shop.ts';
import { openStage, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';

describe('checkouts while the database is being reconciled', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { notifyHolds: true, webhookUrl: 'https://a.example' }));
  beginAnew(stage);
  const restored = () => inNameOf('operator/ann', () => moveSequencesAhead(stage.database, new Date()));
  const open = async () => (await shop.checkout()).preauthorization ?? assert.fail();

  const begin = {
    'a restore': restored,
    'a fail-over': async () => {
      await sql(stage, `update installation set timeline = '000000FF'`);
      await noticeTimeline(stage.database.query, false);
    },
  };
  for (const [name, goBackIn] of Object.entries(begin)) {
    it(`one that was paid in the lost window is noticed at once after ${name}`, async () => {
      const [paid, waiting] = [await open(), await open()];
      const goBack = await rememberNow(stage);
      await payAt(paid.checkoutUrl);
      await goBack();
      await stage.inquire();
      assert.match(await shop.books(paid), /AWAITING_CHECKOUT/, 'otherwise at its end');
      await goBackIn();
      await stage.inquire();
      assert.equal(await shop.books(paid), 'IN_PROGRESS 0/0/10000/0/0');
      assert.match(await shop.books(waiting), /AWAITING_CHECKOUT/);
      await payAt(waiting.checkoutUrl);
      assert.equal(await shop.books(waiting), 'IN_PROGRESS 0/0/10000/0/0');
    });
  }

  it('one that may have been paid is not cancelled', async () => {
    const page = await open();
    const key = { idempotencyKey: randomUUID() };
    const goBack = await rememberNow(stage);
    await payAt(page.checkoutUrl);
    await shop.capture(await shop.get(page), 300n);
    await goBack();
    await restored();
    assert.deepEqual([await why(shop.release(page)), await why(shop.release(page, key))], Array(2).fill('RECONCILING'));
    await stage.inquire();
    const { left, lines } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.equal(await shop.books(page), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    await shop.release(page, key);
    assert.deepEqual(await stage.audit(), []);
  });

  it('a lost one is imported by its event', async () => {
    await shop.hold();
    const goBack = await rememberNow(stage);
    const [paid, failed] = [await open(), await open()];
    await goBack();
    await restored();
    await payAt(paid.checkoutUrl);
    assert.equal(await shop.books(paid), 'IN_PROGRESS 0/0/10000/0/0');
    assert.equal((await shop.get(paid)).preauthorizationId.slice(0, 4), 'pre_');
    await shop.capture(await shop.get(paid), 300n);
    const [entry] = await sql<{ actor: string; target: string }>(
      stage,
      `select actor, target from audit_entry where action = 'processor-entry.import'`,
    );
    assert.deepEqual(entry, { actor: 'processor/default', target: paid.requestId });
    const { left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0);
    assert.match(await shop.books(failed), /^FAILED/);
    assert.deepEqual(await stage.audit(), []);
  });

  it('a lost one is closed when everything is imported', async () => {
    await shop.hold();
    const goBack = await rememberNow(stage);
    const page = await open();
    await goBack();
    await restored();
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.match(lines.join('\n'), /^CLOSED open checkout /);
    assert.match(await shop.books(page), /^FAILED/);
    assert.notEqual(await payAt(page.checkoutUrl).catch(() => 0), 200);
    assert.deepEqual(await stage.audit(), []);
  });
});
