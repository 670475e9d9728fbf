import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { listMerchants as listStored } from '../../storage/merchant/read-merchants.ts';
import type { Core } from '../core.ts';
import { isMerchantId } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentMerchant } from './present-merchant.ts';

/** Lists merchants in the order of their ids. */
export function listMerchants(core: Core): MethodImpl<typeof MerchantService.method.listMerchants> {
  return async (request) => {
    const after = pageKey(request.pageToken, {}, isMerchantId);
    const size = pageSizeOf(request);
    const found = await listStored(core.database, after, size + 1);
    const { page, nextPageToken } = cutPage(found, size, ({ merchant }) => pageToken(merchant.id, {}));
    return { merchants: page.map(presentMerchant), nextPageToken };
  };
}
