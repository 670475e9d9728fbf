/** A worker that dies while a hold acts by itself: it dies at a named point, and two others go on together. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { useMortalStage } from '../stage.ts';

const HOUR_MS = 3_600_000;

describe('a worker that is killed', () => {
  const { stage, crash } = useMortalStage();
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  const soon = () => timestampFromMs(stage.clock.now() + HOUR_MS);

  const placed = {
    captured: () => shop.hold({ captureAt: soon() }),
    released: () => shop.hold({ releaseAt: soon() }),
    async renewed() {
      const hold = await shop.hold();
      await shop.renew(hold);
      return hold;
    },
  };

  for (const { hold, job, point, ends, results } of [
    {
      hold: placed.captured,
      job: 'captureDue',
      point: 'capture',
      ends: 'CAPTURED 10000/0/0/0/0',
      results: { stored: ['failed 10000', 'captured 10000'], answered: ['captured 10000'] },
    },
    {
      hold: placed.released,
      job: 'expire',
      point: 'expiry',
      ends: 'EXPIRED 0/0/0/10000/0 EXPIRED',
      results: { stored: ['expired 10000'], answered: ['expired 10000'] },
    },
    {
      hold: placed.renewed,
      job: 'releaseRenewed',
      point: 'release',
      ends: 'RELEASED 0/0/0/10000/0 RELEASED',
      results: { stored: ['failed 10000', 'released 10000'], answered: ['released 10000'] },
    },
  ] as const) {
    for (const when of ['stored', 'answered'] as const) {
      it(`at '${point} ${when}', by ${job}(), leaves it to others, and nothing is done twice`, async () => {
        const about = await hold();
        stage.clock.advance(HOUR_MS);
        crash.at = `${point} ${when}`;
        await assert.rejects(stage[job](), /died here/);
        for (let times = 0; times < 3; times += 1) {
          await Promise.all([stage[job](), stage[job]()]);
          stage.clock.advance(61_000);
          await Promise.all([stage.inquire(), stage.inquire()]);
        }
        assert.equal(await stage[job](), 0, 'nothing is left to do');
        assert.equal(await shop.books(about), ends);
        assert.deepEqual(await shop.results(about), ['authorized', ...results[when]]);
        const { captured, voided } = stage.oracle.find(about.requestId) ?? assert.fail();
        assert.deepEqual([captured, voided], point === 'capture' ? [10_000, 0] : [0, 10_000]);
        assert.deepEqual(await stage.audit(), []);
      });
    }
  }
});
