import assert from 'node:assert/strict';
import { MerchantService } from '../../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('GetContract', () => {
  const stage = forSuite(openStage);

  it('shows a merchant what it may do, without its addresses and account', async () => {
    await openMerchant(stage, 'acme', { webhookUrl: 'https://merchant.example/hooks', processorAccount: 'acct_1' });
    const { contract } = await stage.client('gateway', MerchantService).getContract({ merchantId: 'acme' });
    assert(contract);
    assert(contract.currencies.includes('EUR'));
    assert.deepEqual([contract.webhookUrl, contract.internalUrl, contract.processorAccount], ['', '', '']);
  });

  it('is not for internal services, and there is none of an unknown merchant', async () => {
    await assert.rejects(stage.client('internal', MerchantService).getContract({ merchantId: 'acme' }), /may not call/);
    await assert.rejects(stage.client('gateway', MerchantService).getContract({ merchantId: 'nobody' }), /merchant/);
  });
});
