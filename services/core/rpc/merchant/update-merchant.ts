import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { updateMerchant as updateStored } from '../../storage/merchant/change-merchant.ts';
import type { Core } from '../core.ts';
import { refusalOf } from '../refuse.ts';
import { contractColumns } from './contract-columns.ts';
import { presentMerchant } from './present-merchant.ts';
import { refuseGateway } from './refuse-gateway.ts';

/** Replaces a merchant's name and contract; holds placed before keep their terms. */
export function updateMerchant(core: Core): MethodImpl<typeof MerchantService.method.updateMerchant> {
  return async ({ merchantId, name, contract }) => {
    const columns = contractColumns(contract, core.processors);
    await refuseGateway(core, columns.internalUrl);
    const updated = await updateStored(core.database, merchantId, { ...columns, name }, core.clock());
    if (updated === 'NOT_FOUND') throw refusalOf('OPERATION_NOT_FOUND');
    core.contracts.forget(merchantId);
    return { merchant: presentMerchant(updated) };
  };
}
