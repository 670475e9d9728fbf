/** Renewals that had no result, or were overtaken, when the database went back in time. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Preauthorization } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { keptHolds } from '../../../../services/core/recovery/due-holds.ts';
import { beginReconciling } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { workOnce } from '../work-once.ts';
import { decideAt } from './decide.ts';

const DAY_MS = 24 * 3_600_000;

describe('reconcile() with renewals that were at work', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'hotel', { webhookUrl: 'https://hotel.example/hooks' }));
  beginAnew(stage);
  /** A worker dies when the processor has approved the renewal of a hold, or right before it asks for it. */
  const dieAt = async (point: 'renewal stored' | 'renewal answered') => {
    stage.clock.advance(5.5 * DAY_MS);
    const reach = (reached: string) => assert.notEqual(reached, point, 'the worker dies');
    await assert.rejects(workOnce(keptHolds({ ...stage.recovery, reach })), /the worker dies/);
  };
  /** Recovery inquires, and gives back what renewals have left. */
  const recover = async () => {
    stage.clock.advance(120_000);
    await stage.inquire();
    await stage.renewKept();
    await stage.inquire();
  };
  const keep = () => shop.hold({ keepUntil: timestampFromMs(stage.clock.now() + 60 * DAY_MS) });
  const stateOf = async (hold: Preauthorization) => {
    const { authorizations, guaranteedUntil } = await shop.get(hold);
    const chain = authorizations.map(({ reference, endedAt }) => [reference, endedAt !== undefined]);
    return [await shop.books(hold), chain, guaranteedUntil];
  };
  const importAll = async () => {
    await beginReconciling(stage.database.query);
    stage.clock.advance(120_000);
    await stage.inquire();
    const { lines, left, ended } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert(ended);
    assert.deepEqual(await stage.audit(), []);
  };

  // Something of ours is in the processor's books.
  beforeEach(() => shop.hold());

  for (const [what, act] of [
    ['took over', async () => {}],
    ['was overtaken by a capture', (hold: Preauthorization) => shop.capture(hold, 1_000n)],
    [
      'was overtaken by changes after which the same amount remains',
      (hold: Preauthorization) => shop.increment(hold, 500n),
    ],
  ] as const) {
    for (const lost of ['the renewal', 'its result']) {
      it(`imports a renewal that ${what}: lost is ${lost}`, async () => {
        const hold = await keep();
        const before = await rememberNow(stage, 'before');
        await dieAt('renewal answered');
        const amid = await rememberNow(stage, 'amid');
        await act(hold);
        await recover();
        if (what.includes('changes')) await shop.releasePart(hold, 500n);
        stage.clock.advance(DAY_MS);
        await recover();
        const state = await stateOf(hold);
        const results = await shop.results(hold);
        assert.equal((await shop.get(hold)).authorizations.length, 2);
        await (lost === 'its result' ? amid : before)();
        await importAll();
        assert.deepEqual(await stateOf(hold), state);
        assert.deepEqual((await shop.results(hold)).sort(), results.sort());
      });
    }
  }

  it('imports the release of a hold during its renewal', async () => {
    const hold = await keep();
    const goBack = await rememberNow(stage);
    await dieAt('renewal answered');
    await shop.release(hold);
    await recover();
    const books = await shop.books(hold);
    await goBack();
    await importAll();
    assert.equal(await shop.books(hold), books);
  });

  it('imports a renewal after another one that never arrived', async () => {
    const hold = await keep();
    await dieAt('renewal stored');
    const goBack = await rememberNow(stage);
    await recover();
    stage.clock.advance(60_000);
    await recover();
    const state = await stateOf(hold);
    assert.equal((await shop.get(hold)).authorizations.length, 2);
    await goBack();
    await importAll();
    assert.deepEqual(await stateOf(hold), state);
  });
});
