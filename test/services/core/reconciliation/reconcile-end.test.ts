/** Reconciling ends when an operator says so: what merchants changed in what was lost is not in any books. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { beginReconciling, reconcilingSince } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

describe('the end of reconciling', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  beginAnew(stage);

  it('is not brought about by a run that only looks, and no hold of before is captured until then', async () => {
    const inAMinute = () => timestampFromMs(stage.clock.now() + 60_000);
    const captured = await shop.hold({ captureAt: inAMinute() });
    const released = await shop.hold({ releaseAt: inAMinute() });
    const goBack = await rememberNow(stage);
    const takeBack = () =>
      stage.channel('gateway').holds.updatePreauthorization({
        merchantId: 'acme',
        requestId: captured.requestId,
        updateMask: { paths: ['capture_at'] },
      });
    await takeBack();
    await goBack();
    await beginReconciling(stage.recovery.database.query);
    stage.clock.advance(61_000);
    for (const _ of ['a run', 'another']) {
      const { left, ended, waits } = await decideAt(stage, { ending: false });
      assert.deepEqual([left, ended], [0, false]);
      assert.deepEqual(
        waits?.map(({ requestId, captureAt, releaseAt }) => [requestId, captureAt !== null, releaseAt !== null]).sort(),
        [
          [captured.requestId, true, false],
          [released.requestId, false, true],
        ].sort(),
      );
      await stage.captureDue();
      await stage.expire();
      assert.deepEqual(
        [await shop.books(captured), await shop.books(released)],
        Array(2).fill('IN_PROGRESS 0/0/10000/0/0'),
      );
    }
    // The merchant takes it back again, as it had in what was lost.
    await takeBack();
    const { ended, waits } = await decideAt(stage);
    assert.deepEqual([ended, waits], [true, undefined]);
    assert.equal(await reconcilingSince(stage.recovery.database.query), undefined);
    await stage.captureDue();
    await stage.expire();
    assert.deepEqual(
      [await shop.books(captured), await shop.books(released)],
      ['IN_PROGRESS 0/0/10000/0/0', 'EXPIRED 0/0/0/10000/0 EXPIRED'],
    );
  });

  it('does not list holds that were placed since', async () => {
    await beginReconciling(stage.recovery.database.query);
    await shop.hold({ captureAt: timestampFromMs(stage.clock.now() + 3_600_000) });
    assert.deepEqual((await decideAt(stage, { ending: false })).waits, []);
  });
});
