import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { CurrencyBoundsSchema } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { amountBreachOf } from '../../../../services/core/processor/amount-bounds.ts';
import { forSuite } from '../../../suite.ts';
import { approved, startFakeProcessor } from '../fake-processor.ts';
import { openMerchant } from '../shop.ts';
import { openStage, why } from '../stage.ts';

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
    processor.says = { authorize: () => approved, describe: () => ({ ...processor.is, currencies: BOUNDS }) };
    const stage = await openStage({ processor: processor.address });
    const shop = await openMerchant(stage, 'acme');
    const close = async () => {
      await stage.close();
      processor.close();
    };
    return { shop, processor, close };
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
});
