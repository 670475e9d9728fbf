import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../desk.ts';
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
      await acme.hold({ amount, currency });
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
});
