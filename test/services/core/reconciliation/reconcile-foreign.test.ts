/** What somebody else charged at the processor is imported; the end that was reported of its hold waits for that. */
import assert from 'node:assert/strict';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { chargeThere } from './charge-there.ts';
import { decideAt } from './decide.ts';

describe('reconcile() on charges by somebody else', () => {
  const stage = forSuite(openStage);
  const acme = forSuite(() => openMerchant(stage, 'acme', { holdPeriod: { seconds: 3_600n } }));

  for (const first of ['charged', 'ended'] as const) {
    for (const [amount, books, results] of [
      [10_000, 'CAPTURED 10000/0/0/0/0', ['authorized', 'captured 10000']],
      [4_000, 'CAPTURED 4000/0/0/6000/0 RELEASED', ['authorized', 'captured 4000', 'released 6000']],
    ] as const) {
      it(`imports ${amount} that somebody else charged, ${first} first, and then lets the hold end`, async () => {
        const hold = await acme.hold();
        const there = chargeThere(stage, hold, amount);
        await there[first]();
        await there[first === 'charged' ? 'ended' : 'charged']();
        await stage.expire();
        assert.equal(await acme.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
        const { lines, left } = await decideAt(stage, { importing: ['all'] });
        assert.equal(left, 0, lines.join('\n'));
        await stage.expire();
        assert.equal(await acme.books(hold), books);
        assert.deepEqual(await acme.results(hold), results);
        const open = await sql(stage, 'select from contradiction where hold_request_id = $1 and resolved_at is null', [
          hold.requestId,
        ]);
        assert.equal(open.length, 0);
        assert.deepEqual(await stage.audit(), []);
      });
    }
  }
});
