/** Operations and events go on while the books are read and decisions are carried out. */
import assert from 'node:assert/strict';
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import type { Ledgers } from '../../../../services/core/reconciliation/copy-entries.ts';
import { forEachTest } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';
import { rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

describe('reconcile() while the service goes on', function () {
  this.timeout(60_000);
  const stage = forEachTest(openStage);
  const shop = forEachTest(() => openMerchant(stage, 'acme'));

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
});
