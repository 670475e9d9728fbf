import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { readMerchant } from '../../storage/merchant/read-merchants.ts';
import type { Core } from '../core.ts';
import { refusalOf } from '../refuse.ts';
import { presentMerchant } from './present-merchant.ts';

/** Looks up a merchant. */
export function getMerchant(core: Core): MethodImpl<typeof MerchantService.method.getMerchant> {
  return async ({ merchantId }) => {
    const found = await readMerchant(core.database, merchantId);
    if (!found) throw refusalOf('OPERATION_NOT_FOUND');
    return { merchant: presentMerchant(found) };
  };
}
