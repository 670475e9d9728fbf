import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Core } from '../core.ts';
import { changeMerchant } from './change-merchant.ts';
import { contractColumns } from './contract.ts';
import { presentMerchant } from './present-merchant.ts';
import { refuseGateway } from './refuse-gateway.ts';

/** Replaces a merchant's name and contract; holds placed before keep their terms. */
export function updateMerchant(core: Core): MethodImpl<typeof MerchantService.method.updateMerchant> {
  return async (request) => {
    const columns = contractColumns(request.contract);
    await refuseGateway(core, columns.internalUrl);
    return changeMerchant(core, request.merchantId, 'merchant.update', async (em, merchant) => {
      em.assign(merchant, { ...columns, name: request.name });
      return { merchant: await presentMerchant(em, merchant) };
    });
  };
}
