/** Captures, releases and expiry of one hold at the same time, through two cores. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, openShop } from '../../shop.ts';
import { useMortalStage, why } from '../../stage.ts';

const DAY_MS = 24 * 3_600 * 1_000;

describe('simultaneous captures', () => {
  const { stage, crash } = useMortalStage();
  const several = forSuite(() => openMerchant(stage, 'several'));
  const sole = forSuite(() => openMerchant(stage, 'sole', { allowMultipleCaptures: false }));
  const asked = ({ requestId }: { requestId: string }) =>
    stage.oracle.entries(requestId).filter(({ kind }) => kind === 'capture');

  const REFUSED = new Set([
    'CAPTURE_IN_FLIGHT',
    'HOLD_CAPTURED',
    'AMOUNT_EXCEEDS_HOLD',
    'MULTIPLE_CAPTURES_NOT_ALLOWED',
  ]);
  const tried = async (call: Promise<{ capture?: { amount: bigint } | undefined }>) => {
    try {
      return (await call).capture?.amount ?? 0n;
    } catch (error) {
      const reason = await why(Promise.reject(error));
      assert(REFUSED.has(reason), reason);
      return 0n;
    }
  };
  const both = (merchantId: string) => [openShop(stage, merchantId, 0), openShop(stage, merchantId, 1)] as const;

  it('succeed exactly as long as they fit, and the processor is asked for nothing else', async () => {
    const shops = both('several');
    for (let round = 0; round < 4; round++) {
      const hold = await several.hold();
      const calls = Array.from({ length: 64 }, (_, index) => shops[index % 2]?.capture(hold, 1_000n) ?? assert.fail());
      const won = (await Promise.all(calls.map(tried))).filter((amount) => amount > 0n);
      assert.equal(won.length, 10);
      assert.equal(asked(hold).length, 10);
      assert.equal(await several.books(hold), 'CAPTURED 10000/0/0/0/0');
    }
  });

  it('charge what was answered, whatever the amounts', async () => {
    const shops = both('several');
    for (let round = 0; round < 4; round++) {
      const hold = await several.hold();
      const calls = Array.from(
        { length: 64 },
        (_, index) => shops[index % 2]?.capture(hold, BigInt(300 + ((index * 7_919 + round) % 1_500))) ?? assert.fail(),
      );
      const won = (await Promise.all(calls.map(tried))).filter((amount) => amount > 0n);
      const sum = won.reduce((total, amount) => total + amount, 0n);
      assert(sum <= 10_000n);
      assert.equal((await several.get(hold)).amountCaptured, sum);
      const approved = asked(hold);
      assert.equal(approved.length, won.length);
      assert.equal(stage.oracle.find(hold.requestId)?.captured, Number(sum));
    }
  });

  it('succeed once where one is allowed', async () => {
    const shops = both('sole');
    for (let round = 0; round < 4; round++) {
      const hold = await sole.hold();
      const calls = Array.from({ length: 64 }, (_, index) => shops[index % 2]?.capture(hold, 10n) ?? assert.fail());
      const won = (await Promise.all(calls.map(tried))).filter((amount) => amount > 0n);
      assert.equal(won.length, 1);
      assert.equal(asked(hold).length, 1);
    }
  });

  it('share what remains with a release: it goes to captures or to the release', async () => {
    const shops = both('several');
    for (let round = 0; round < 6; round++) {
      const hold = await several.hold();
      const captures = Array.from({ length: 8 }, (_, index) => shops[index % 2]?.capture(hold, 500n) ?? assert.fail());
      const released = shops[round % 2]?.release(hold).then(
        () => true,
        () => false,
      );
      const won = await Promise.all(
        captures.map((call) =>
          call.then(
            () => true,
            () => false,
          ),
        ),
      );
      const given = await released;
      const captured = won.filter(Boolean).length * 500;
      const { captured: atProcessor, voided } = stage.oracle.find(hold.requestId) ?? assert.fail();
      assert.equal(atProcessor, captured);
      const rest = 10_000 - captured;
      assert.equal(voided, given ? rest : 0);
      const books = await several.get(hold);
      assert.deepEqual(
        [books.amountCaptured, books.amountInFlight, books.amountRemaining, books.amountReleased].map(Number),
        given ? [captured, 0, 0, rest] : [captured, 0, rest, 0],
      );
    }
  });

  it('keep what they have reserved from an expiry', async () => {
    const hold = await several.hold();
    crash.at = 'capture stored';
    assert.equal((await several.capture(hold, 4_000n)).capture?.state, OperationState.UNKNOWN);
    stage.clock.advance(7 * DAY_MS);
    await stage.expire();
    assert.equal(await several.books(hold), 'IN_PROGRESS 0/4000/6000/0/0');
    await stage.inquire();
    await stage.expire();
    assert.equal(await several.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.deepEqual(await several.results(hold), ['authorized', 'failed 4000', 'expired 10000']);
  });
});
