import { listMerchants as listStored } from '../../storage/merchant/read-merchants.ts';
import type { Method } from '../core.ts';
import { isMerchantId } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentMerchant } from './present-merchant.ts';

/** Lists merchants in the order of their ids. */
export const listMerchants: Method<'listMerchants'> = async (core, request) => {
  const after = pageKey(request.pageToken, {}, isMerchantId);
  const size = pageSizeOf(request);
  const found = await listStored(core.database, after, size + 1);
  const { page, nextPageToken } = cutPage(found, size, ({ merchant }) => pageToken(merchant.id, {}));
  return { merchants: page.map(presentMerchant), nextPageToken };
};
