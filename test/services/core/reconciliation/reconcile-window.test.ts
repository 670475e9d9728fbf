/** A part of the processors' books is read, and nothing that is said of it is wrong. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import type { Ledgers } from '../../../../services/core/reconciliation/copy-entries.ts';
import { moveSequencesAhead } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

describe('reconcile() from a time on', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://acme.example/hooks' }));
  beginAnew(stage);

  const all = { importing: ['all'] };
  const whatOf = (lines: readonly string[]) => lines.map((line) => line.split(' ').slice(0, 3).join(' ')).sort();
  /** The time now, later than everything before and earlier than everything after. */
  function now(): Date {
    stage.clock.advance(1_000);
    const time = new Date(stage.clock.now());
    stage.clock.advance(1_000);
    return time;
  }
  /** Makes a hold as old as if it had been placed hours ago, here and at the processor. */
  async function age(requestId: string, hours: number): Promise<void> {
    await sql(
      stage,
      `update hold set created_at = created_at - interval '${hours} h' where request_id = '${requestId}'`,
    );
    const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    ledger
      .prepare('update entry set changedAtMs = changedAtMs - ? where requestId = ?')
      .run(hours * 3_600_000, requestId);
    ledger.close();
  }
  const ignoringTime = (): Ledgers => {
    const [[name, real] = assert.fail()] = ledgersOf(stage.recovery.processors);
    return new Map([[name, { listEntries: ({ changedFrom: _, ...asked }) => real.listEntries(asked) }]]);
  };

  for (const [processor, ledgers] of [
    ['is asked for it', () => undefined],
    ['ignores the time', ignoringTime],
  ] as const) {
    it(`imports what changed since then, and leaves the rest, when the processor ${processor}`, async () => {
      const used = await shop.hold({ tokenId: 'tok_sandbox_reversed_in_part' });
      await shop.capture(used, 300n);
      stage.clock.advance(3_000);
      await stage.sandbox.reportDue();
      const goBack = await rememberNow(stage);
      const early = await shop.hold();
      const from = now();
      await shop.capture(used, 200n);
      await shop.hold();
      await goBack();
      const { lines, left } = await decideAt(stage, all, ledgers(), from);
      assert.deepEqual(whatOf(lines), ['IMPORTED authorization approved', 'IMPORTED capture approved']);
      assert.equal(left, 0);
      assert.equal(await shop.books(used), 'PARTIALLY_CAPTURED 500/0/9500/0/150');
      assert.match(
        (await decideAt(stage)).lines.join(),
        new RegExp(`^UNKNOWN authorization approved ${early.requestId}`),
      );
    });
  }

  it('reads what changed since an hour before the time to which the database went back, and ends', async () => {
    const old = await shop.hold();
    await age(old.requestId, 9);
    await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.capture(old, 300n);
    await shop.hold();
    await goBack();
    await moveSequencesAhead(stage.recovery.database, now());
    const narrow = await decideAt(stage, all, undefined, now());
    assert.deepEqual([narrow.lines, narrow.ended], [[], false]);
    const { lines, ledgers, ended } = await decideAt(stage, all);
    assert.deepEqual(whatOf(lines), ['IMPORTED authorization approved', 'IMPORTED capture approved']);
    assert.equal(ended, true);
    assert.equal(ledgers[0]?.entries, 4, 'the old hold is among those that changed');
    assert.deepEqual(await stage.audit(), []);
  });

  it('does not end without the books of a processor in use, and imports what others know', async () => {
    const { requestId } = await shop.hold();
    assert.equal(await why(shop.place({ tokenId: 'tok_sandbox_declined' })), 'CARD_DECLINED');
    const goBack = await rememberNow(stage);
    await shop.hold();
    await goBack();
    await moveSequencesAhead(stage.recovery.database, now());
    const failed = `where phase = 'FAILED'`;
    await sql(stage, `update hold set processor = 'bank' ${failed}`);
    const sent = await decideAt(stage, all);
    assert.deepEqual([sent.unread, sent.imported, sent.left, sent.ended], ['bank', 1, 0, false]);
    await sql(stage, `update hold set created_at = created_at - interval '9 h' ${failed}`);
    await sql(stage, `update merchant set processor = 'bank'`);
    const named = await decideAt(stage);
    assert.deepEqual([named.unread, named.ended], ['bank', false], 'a contract names it');
    await sql(stage, `update merchant set processor = ''`);
    await age(requestId, 9);
    await sql(stage, `update hold set processor = 'bank' where request_id = $1`, [requestId]);
    const open = await decideAt(stage);
    assert.deepEqual([open.unread, open.ended], ['bank', false], 'a hold is open there');
    await sql(stage, `update hold set processor = 'default' where request_id = $1`, [requestId]);
    const done = await decideAt(stage);
    assert.deepEqual([done.unread, done.ended], [undefined, true], 'it was removed long ago');
  });

  it('does not read what is older', async () => {
    const old = await shop.hold();
    await age(old.requestId, 9);
    await shop.hold();
    await moveSequencesAhead(stage.recovery.database, now());
    const { from, ledgers, ended } = await decideAt(stage);
    assert.equal(ledgers[0]?.entries, 1);
    assert.equal(from?.getTime(), stage.clock.now() - 3_602_000);
    assert.equal(ended, true);
  });

  it('stops when the books since then lack what we know since then', async () => {
    await shop.hold();
    const [[name] = assert.fail()] = ledgersOf(stage.recovery.processors);
    const empty: Ledgers = new Map([
      [name, { listEntries: async () => ({ entries: [], nextPageToken: '' }) as never }],
    ]);
    const from = new Date(stage.clock.now() - 120_000);
    await assert.rejects(decideAt(stage, all, empty, from), /are not whole, or another installation's: 1 of the 1 /);
    assert.deepEqual((await decideAt(stage, {}, empty, now())).lines, []);
  });

  it('takes for all what was done before another time', async () => {
    await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.hold();
    const to = now();
    const late = await shop.hold();
    await goBack();
    const { lines, left } = await decideAt(stage, { ...all, to });
    assert.deepEqual(whatOf(lines), ['IMPORTED authorization approved', 'UNKNOWN authorization approved']);
    assert.equal(left, 1);
    assert.equal((await decideAt(stage, { importing: [late.requestId], to })).left, 0);
  });
});
