import assert from 'node:assert/strict';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, refusal } from '../stage.ts';

describe('a currency that ISO 4217 has withdrawn', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'curacao'));

  /** A hold from before. */
  async function placed() {
    const hold = await shop.hold();
    await sql(stage, "update hold set currency = 'ANG' where request_id = $1", [hold.requestId]);
    return hold;
  }

  it('is refused for new holds and contracts, and the new one is taken', async () => {
    const { merchants } = stage.channel('operator');
    const contract = (currency: string) => ({ currencies: [currency], terminals: ['T1'] });
    const { violations } = await refusal(
      merchants.updateMerchant({ merchantId: 'curacao', name: 'x', contract: contract('ANG') }),
    );
    assert.deepEqual(violations, { 'contract.currencies': 'ANG is not an ISO 4217 currency' });
    await merchants.createMerchant({ merchantId: 'willemstad', name: 'x', contract: contract('XCG') });
    await sql(stage, "update merchant set currencies = '{EUR,ANG}' where id = 'curacao'");
    assert.deepEqual((await refusal(shop.place({ currency: 'ANG' }))).violations, {
      currency: 'is not an ISO 4217 currency',
    });
  });

  it('stays that of the holds that are in it, which can be read and listed', async () => {
    const hold = await placed();
    const { violations } = await refusal(shop.capture(hold, 1_000n, { currency: 'XCG' }));
    assert.deepEqual(violations, { currency: 'must be ANG, in which the hold is' });
    assert.equal((await shop.get(hold)).currency, 'ANG');
    const { holds } = stage.channel('gateway');
    const { preauthorizations } = await holds.listPreauthorizations({ merchantId: 'curacao', currency: 'ANG' });
    assert.deepEqual(
      preauthorizations.map(({ requestId }) => requestId),
      [hold.requestId],
    );
  });
});
