import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, openShop } from '../../shop.ts';
import { openStage, refusal } from '../../stage.ts';

/** Identifiers that look like card numbers. */
const LIKE = { userId: '4242424242424242', merchantReference: '5555555555554444', terminalId: '378282246310005' };
const REFUSED = 'must not contain a card number; the contract term allowCardLikeReferences lifts this check';

describe('the contract term allowCardLikeReferences', () => {
  const stage = forSuite(openStage);
  const strict = forSuite(() => openMerchant(stage, 'strict'));
  const lenient = forSuite(async () => {
    const terms = {
      currencies: ['EUR'],
      terminals: ['T1', LIKE.terminalId],
      allowOct: true,
      allowCardLikeReferences: true,
    };
    const { merchants } = stage.channel('operator');
    await merchants.createMerchant({ merchantId: 'lenient', name: 'Lenient', contract: terms });
    return openShop(stage, 'lenient');
  });

  it('is named by the refusal of each field that it allows', async () => {
    for (const act of [strict.place, strict.oct]) {
      const { reason, violations } = await refusal(act(LIKE));
      assert.equal(reason, 'INVALID_REQUEST');
      assert.equal(violations.user_id, REFUSED);
      assert.equal(violations.merchant_reference, REFUSED);
    }
    const hold = await strict.hold();
    const { holds } = stage.channel('gateway');
    const change = { updateMask: { paths: ['merchant_reference'] }, merchantReference: LIKE.merchantReference };
    const { violations } = await refusal(
      holds.updatePreauthorization({ merchantId: 'strict', requestId: hold.requestId, ...change }),
    );
    assert.deepEqual(violations, { merchant_reference: REFUSED });
  });

  it('is needed for such a terminal', async () => {
    const { merchants } = stage.channel('operator');
    const contract = { currencies: ['EUR'], terminals: [LIKE.terminalId] };
    const { violations } = await refusal(merchants.createMerchant({ merchantId: 'other', name: 'Other', contract }));
    assert.deepEqual(violations, { 'contract.terminals': REFUSED });
  });

  it('lets them be used, changed and found', async () => {
    const { requestId } = await lenient.hold(LIKE);
    assert.equal((await lenient.oct(LIKE)).oct?.merchantReference, LIKE.merchantReference);
    const { holds } = stage.channel('gateway');
    const merchantReference = '4111111111111111';
    const change = { updateMask: { paths: ['merchant_reference'] }, merchantReference };
    await holds.updatePreauthorization({ merchantId: 'lenient', requestId, ...change });
    const { preauthorizations } = await holds.listPreauthorizations({ merchantId: 'lenient', merchantReference });
    assert.deepEqual(
      preauthorizations.map((hold) => [hold.requestId, hold.userId, hold.terminalId]),
      [[requestId, LIKE.userId, LIKE.terminalId]],
    );
  });

  it('allows no card number elsewhere', async () => {
    const { violations } = await refusal(
      lenient.place({ description: 'card 4242 4242 4242 4242', metadata: { card: '4242424242424242' } }),
    );
    assert.deepEqual(violations, {
      description: 'must not contain a card number',
      metadata: 'must not contain a card number',
    });
  });
});
