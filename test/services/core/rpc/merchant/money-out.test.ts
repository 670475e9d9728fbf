import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { contract, openStage } from '../../stage.ts';

describe('the terms of money out', () => {
  const stage = forSuite(openStage);
  const merchants = forSuite(() => stage.channel('operator').merchants);
  const get = async (merchantId: string) => (await merchants.getMerchant({ merchantId })).merchant ?? assert.fail();

  it('forbids payouts to a new merchant, and leaves them as they are when an update does not speak of them', async () => {
    const terms = { currencies: ['EUR'], terminals: ['T1'] };
    await merchants.createMerchant({ merchantId: 'payer', name: 'Payer', contract: terms });
    assert.equal((await get('payer')).contract?.allowOct, false);
    await sql(stage, `update merchant set allow_oct = default where id = 'payer'`);
    await merchants.updateMerchant({ merchantId: 'payer', name: 'Payer', contract: terms });
    assert.equal((await get('payer')).contract?.allowOct, true, 'as a merchant of the release before');
    await merchants.updateMerchant({ merchantId: 'payer', name: 'Payer', contract: { ...terms, allowOct: false } });
    assert.equal((await get('payer')).contract?.allowOct, false);
  });

  it('keeps which operations must be signed, in both spellings', async () => {
    const capturePublicKey = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;
    const terms = { ...contract(), capturePublicKey };
    const saved = async (more: object) => {
      await merchants.updateMerchant({ merchantId: 'signer', name: 'Signer', contract: { ...terms, ...more } });
      const { requireSignedCaptures, requireSignedOperations } = (await get('signer')).contract ?? assert.fail();
      return [requireSignedCaptures, ...requireSignedOperations];
    };
    await openMerchant(stage, 'signer');
    assert.deepEqual(await saved({ requireSignedCaptures: true }), [true, 'CAPTURE']);
    assert.deepEqual(await saved({ requireSignedOperations: ['CAPTURE'] }), [true, 'CAPTURE']);
    assert.deepEqual(await saved({ requireSignedOperations: ['REFUND', 'OCT'] }), [false, 'OCT', 'REFUND']);
    const limits = [{ operation: 'OCT', currency: 'EUR', perDay: 5n }];
    assert.deepEqual(await saved({ limits }), [false]);
    const [limit] = (await get('signer')).contract?.limits ?? [];
    assert.deepEqual(
      [limit?.operation, limit?.currency, limit?.perOperation, limit?.perDay],
      ['OCT', 'EUR', undefined, 5n],
    );
  });
});
