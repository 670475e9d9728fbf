import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { CurrencyBoundsSchema } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { amountBreachOf } from '../../../../services/core/processor/amount-bounds.ts';
import { forSuite } from '../../../suite.ts';
import { approved, startFakeProcessor } from '../fake-processor.ts';
import { openMerchant } from '../shop.ts';
import { openStage, refusal, why } from '../stage.ts';

const BOUNDS = [
  create(CurrencyBoundsSchema, { currency: 'EUR', smallestAmount: 50n, largestAmount: 99_999_999n }),
  create(CurrencyBoundsSchema, { currency: 'KWD', smallestAmount: 10n, largestAmount: 99_999_990n, multipleOf: 10n }),
];

describe('amountBreachOf()', () => {
  const cases = [
    ['EUR', 50n, undefined],
    ['EUR', 99_999_999n, undefined],
    ['EUR', 49n, 'amount'],
    ['EUR', 100_000_000n, 'amount'],
    ['KWD', 20n, undefined],
    ['KWD', 25n, 'amount'],
    ['USD', 100n, 'currency'],
  ] as const;
  for (const [currency, amount, field] of cases) {
    it(`finds ${field ?? 'nothing'} wrong with ${amount} ${currency}`, () => {
      assert.equal(amountBreachOf({ currencies: BOUNDS }, { amount, currency })?.field, field);
    });
  }

  it('finds nothing wrong while the processor has named no bounds', () => {
    for (const description of [undefined, { currencies: [] }]) {
      assert.equal(amountBreachOf(description, { amount: 1n, currency: 'UGX' }), undefined);
    }
  });
});

describe('an amount that the processor does not take', () => {
  const opened = forSuite(async () => {
    const processor = await startFakeProcessor();
    processor.says = {
      authorize: () => approved,
      capture: () => approved,
      refund: () => approved,
      describe: () => ({ ...processor.is, currencies: BOUNDS }),
    };
    const stage = await openStage({ processor: processor.address });
    const shop = await openMerchant(stage, 'acme', { currencies: ['EUR', 'KWD'] });
    const close = async () => {
      await stage.close();
      processor.close();
    };
    /** Has core hear other bounds: on its next connection, after a call that finds the present one broken. */
    const restart = async (currencies: typeof BOUNDS) => {
      processor.says = { ...processor.says, describe: () => ({ ...processor.is, currencies }) };
      await processor.restart();
      const placed = () =>
        shop.place().then(
          ({ state }) => state === OperationState.OK,
          () => false,
        );
      while (!(await placed())) await delay(50);
    };
    return { shop, processor, restart, close };
  });

  it('is refused as invalid, for a hold, a checkout and an OCT, before anything is stored or sent', async () => {
    const { shop, processor } = opened;
    // Describe is asked before the first call.
    await shop.hold();
    processor.heard.length = 0;
    for (const fields of [{ amount: 1n }, { amount: 100_000_000n }]) {
      for (const call of [shop.place, shop.checkout, shop.oct])
        assert.equal(await why(call(fields)), 'INVALID_REQUEST');
    }
    assert.deepEqual(processor.heard, []);
    assert.deepEqual((await shop.operations.listOperations({ merchantId: 'acme' })).operations.length, 1);
  });

  it('is refused as invalid, for a capture, an increment and a refund, before anything is stored or sent', async () => {
    const { shop, processor } = opened;
    const hold = await shop.hold({ currency: 'KWD' });
    const { capture } = await shop.capture(hold, 1_000n);
    assert(capture);
    processor.heard.length = 0;
    const refused = [
      ['amount_to_capture', () => shop.capture(hold, 25n)],
      ['amount_to_capture', () => shop.capture(hold, 25n, { currency: 'KWD', finalCapture: true })],
      ['amount_to_add', () => shop.increment(hold, 25n)],
      ['amount', () => shop.refund(capture, 25n)],
    ] as const;
    for (const [field, call] of refused) {
      const { reason, violations } = await refusal(call());
      assert.deepEqual([reason, Object.keys(violations)], ['INVALID_REQUEST', [field]]);
      assert.match(violations[field] ?? '', /multiple of 10/);
    }
    assert.deepEqual(processor.heard, []);
    assert.deepEqual(await shop.results(hold), ['authorized', 'captured 1000']);
    const euros = await shop.hold();
    assert.equal(await why(shop.capture(euros, 25n, { currency: 'KWD' })), 'INVALID_REQUEST');
    assert.equal((await shop.capture(euros, 25n)).capture?.amount, 25n);
  });

  it('is taken when it is all that remains, and under the key of what was done', async () => {
    const { shop, restart } = opened;
    await restart([]);
    const hold = await shop.hold({ currency: 'KWD', amount: 1_005n });
    const first = await shop.capture(hold, 203n, { idempotencyKey: 'c1' });
    await restart(BOUNDS);
    assert.equal(await why(shop.capture(hold, 203n)), 'INVALID_REQUEST');
    const again = await shop.capture(hold, 203n, { idempotencyKey: 'c1' });
    assert.deepEqual([again.replayed, again.capture?.requestId], [true, first.capture?.requestId]);
    const { capture: last } = await shop.capture(hold, 802n);
    assert(last && first.capture);
    const refunded = await shop.refund(last);
    assert.equal(refunded.refund?.amount, 802n);
    assert.equal((await shop.refund(first.capture, 203n, { idempotencyKey: 'r1' })).refund?.amount, 203n);
    assert.equal((await shop.refund(first.capture, 203n, { idempotencyKey: 'r1' })).replayed, true);
    assert.equal(await shop.books(hold), 'CAPTURED 1005/0/0/0/0 refunded 1005');
  });
});
