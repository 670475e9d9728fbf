/** Operations and events go on while the books are read and decisions are carried out. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { v7 as uuidv7 } from 'uuid';
import { openBooks } from '../../../../services/core/books/books.ts';
import type { ReadTakenBack } from '../../../../services/core/books/take-back.ts';
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import type { Ledgers } from '../../../../services/core/reconciliation/copy-entries.ts';
import { beginReconciling } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, why } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

describe('reconcile() while the service goes on', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  beginAnew(stage);

  /** The processor's books, after whose first reading something happens. */
  function readThen(happen: () => Promise<unknown>): Ledgers {
    const [[name, real] = assert.fail()] = ledgersOf(stage.recovery.processors);
    let isFirst = true;
    const listEntries: typeof real.listEntries = async (request) => {
      const page = await real.listEntries(request);
      if (isFirst) {
        isFirst = false;
        await happen();
      }
      return page;
    };
    return new Map([[name, { listEntries }]]);
  }

  it('does not take what was done after the books were read for missing there', async () => {
    const hold = await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.capture(hold, 300n);
    await goBack();
    const more = async () => {
      await shop.capture(await shop.hold(), 100n);
      await shop.oct();
    };
    const { imported, left } = await decideAt(stage, { importing: ['all'] }, readThen(more));
    assert.deepEqual([imported, left], [1, 0]);
    assert.deepEqual(await stage.audit(), []);
  });

  it('takes back what a lost payout had spent of a limit, and counts it again when it is imported', async () => {
    const limits = [{ operation: 'OCT', currency: 'EUR', perDay: 1_400n }];
    const limited = await openMerchant(stage, 'limited', { limits });
    await limited.oct();
    const goBack = await rememberNow(stage);
    await limited.oct();
    assert.equal(await why(limited.oct({ amount: 1n })), 'LIMIT_EXCEEDED');
    await goBack();
    const { imported, left } = await decideAt(stage, { importing: ['all'] });
    assert.deepEqual([imported, left], [1, 0]);
    assert.equal(await why(limited.oct({ amount: 1n })), 'LIMIT_EXCEEDED');
    // What the processor did beyond a limit is booked all the same.
    const again = await rememberNow(stage);
    await sql(stage, 'update merchant set limits = null where id = $1', ['limited']);
    await limited.oct({ amount: 500n });
    await again();
    assert.equal((await decideAt(stage, { importing: ['all'] })).imported, 1);
    const [row] = await sql(stage, `select sum(amount)::int from spent where merchant_id = 'limited'`);
    assert.deepEqual(row, { sum: 1_900 });
  });

  it('ends without a lost checkout whose page has run out, which it finds when it asks about it', async () => {
    await shop.hold();
    const goBack = await rememberNow(stage);
    await shop.checkout();
    await goBack();
    await beginReconciling(stage.recovery.database.query);
    stage.clock.advance(3_600_000);
    const { lines, ended } = await decideAt(stage, { importing: ['all'] });
    assert.deepEqual([lines, ended], [[], true]);
    assert.deepEqual(await stage.audit(), []);
  });

  it('imports a capture that gets its result after the books were read', async () => {
    const hold = await shop.hold({ tokenId: 'tok_sandbox_capture_accepted' });
    const goBack = await rememberNow(stage);
    await shop.capture(hold, 300n);
    await goBack();
    const approve = async () => {
      stage.clock.advance(3_000);
      await stage.sandbox.reportDue();
    };
    const { lines, left } = await decideAt(stage, { importing: ['all'] }, readThen(approve));
    assert.equal(left, 0, lines.join('\n'));
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/0');
    assert.deepEqual(await stage.audit(), []);
  });

  it('books nothing by an amount taken back that was read before an event', async () => {
    const hold = await shop.hold({ tokenId: 'tok_sandbox_reversed_in_part' });
    await shop.capture(hold, 300n);
    const reverse = async () => {
      stage.clock.advance(3_000);
      await stage.sandbox.reportDue();
    };
    await decideAt(stage, { importing: ['all'] }, readThen(reverse));
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/150');
    assert.deepEqual(await stage.audit(), []);
  });

  it('books an event once that is imported while it is reported', async () => {
    const hold = await shop.hold();
    const { capture = assert.fail() } = await shop.capture(hold, 300n);
    const ledger = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    for (const id of [capture.requestId, hold.requestId])
      ledger.prepare('update entry set reversed = 150 where requestId = ?').run(id);
    ledger.close();
    const seen: bigint[] = [];
    const readTakenBack: ReadTakenBack = async (_, subject) => {
      seen.push(subject?.amountReversed ?? 0n);
      if (seen.length > 1) return 150n;
      await decideAt(stage, { importing: ['all'] });
      return undefined;
    };
    const books = openBooks(stage.recovery.database, () => undefined);
    const of = { holdRequestId: hold.requestId, subjectRequestId: capture.requestId };
    const what = { kind: 'REVERSAL', amount: 150n, reference: 'once' } as const;
    await books.takeBack({ ...what, ...of, requestId: uuidv7(), readTakenBack, at: stage.recovery.clock() });
    assert.deepEqual(seen, [0n, 150n]);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 300/0/9700/0/150');
  });
});
