import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('ListPreauthorizations and ListOperations', () => {
  const stage = forSuite(openStage);

  before(async () => {
    const acme = await openMerchant(stage, 'acme');
    for (const [amount, currency] of [
      [999n, 'EUR'],
      [1_000n, 'EUR'],
      [2_000n, 'USD'],
      [2_001n, 'EUR'],
    ] as const) {
      await acme.hold({ amount, currency, merchantReference: `order-${amount}`, userId: `u${amount % 2n}` });
    }
  });

  it('list by amount, bounds included, and by currency', async () => {
    const { holds, operations } = stage.channel('operator');
    for (const [filter, amounts] of [
      [{ amountFrom: 1_000n }, [2_001n, 2_000n, 1_000n]],
      [{ amountTo: 1_000n }, [1_000n, 999n]],
      [{ amountFrom: 1_000n, amountTo: 2_000n }, [2_000n, 1_000n]],
      [{ amountFrom: 1_000n, amountTo: 2_000n, currency: 'EUR' }, [1_000n]],
      [{ currency: 'JPY' }, []],
    ] as const) {
      const { preauthorizations } = await holds.listPreauthorizations(filter);
      assert.deepEqual(
        preauthorizations.map(({ amount }) => amount),
        amounts,
      );
      const listed = await operations.listOperations(filter);
      assert.deepEqual(
        listed.operations.map(({ amount }) => amount),
        amounts,
      );
    }
  });

  it('continue a page only with the same amounts', async () => {
    const { holds } = stage.channel('operator');
    const filter = { amountFrom: 1_000n, pageSize: 2 };
    const { nextPageToken: pageToken } = await holds.listPreauthorizations(filter);
    const { preauthorizations } = await holds.listPreauthorizations({ ...filter, pageToken });
    assert.deepEqual(
      preauthorizations.map(({ amount }) => amount),
      [1_000n],
    );
    await assert.rejects(holds.listPreauthorizations({ amountFrom: 1_001n, pageToken }), /page_token/);
  });

  it('list by reference, user and card, of one merchant and of all', async () => {
    const { holds, operations } = stage.channel('operator');
    const silent = await openMerchant(stage, 'silent');
    await silent.hold({ merchantReference: 'order-1000' });
    const merchantId = 'acme';
    for (const [filter, amounts] of [
      [{ merchantId, merchantReference: 'order-1000' }, [1_000n]],
      [{ merchantReference: 'order-1000' }, [10_000n, 1_000n]],
      [{ merchantId, userId: 'u1' }, [2_001n, 999n]],
      [{ merchantId, userId: 'u1', merchantReference: 'order-1000' }, []],
      [{ merchantId, cardLast4: '4242', amountTo: 1_000n }, [1_000n, 999n]],
      [{ cardLast4: '0000' }, []],
    ] as const) {
      const { preauthorizations } = await holds.listPreauthorizations(filter);
      assert.deepEqual(
        preauthorizations.map(({ amount }) => amount),
        amounts,
        JSON.stringify(Object.keys(filter)),
      );
      const listed = await operations.listOperations(filter);
      assert.deepEqual(
        listed.operations.map(({ amount }) => amount),
        amounts,
      );
    }
    await assert.rejects(holds.listPreauthorizations({ cardLast4: '42' }), /card_last4/);
  });

  it('find a capture by the card of its hold, and an OCT by its own', async () => {
    const { operations } = stage.channel('operator');
    const shop = await openMerchant(stage, 'cards');
    await shop.capture(await shop.hold(), 4_000n);
    await shop.oct();
    for (const [cardLast4, amounts] of [
      ['4242', [700n, 4_000n, 10_000n]],
      ['4243', []],
    ] as const) {
      const listed = await operations.listOperations({ merchantId: 'cards', cardLast4 });
      assert.deepEqual(
        listed.operations.map(({ amount }) => amount),
        amounts,
      );
    }
  });
});
