import { listMerchants as listStored, type MerchantWithCredentials } from '../../storage/merchant/read-merchants.ts';
import type { Method } from '../core.ts';
import { isMerchantId } from '../ids.ts';
import { readPage } from '../pages.ts';
import { presentMerchant } from './present-merchant.ts';

/** Lists merchants in the order of their ids. */
export const listMerchants: Method<'listMerchants'> = async (core, request) => {
  const byMerchantId = { isKey: isMerchantId, keyOf: ({ merchant }: MerchantWithCredentials) => merchant.id };
  const { page, nextPageToken } = await readPage(request, {}, byMerchantId, {
    read: (after, limit) => listStored(core.reads, after, limit),
    present: presentMerchant,
  });
  return { merchants: page, nextPageToken };
};
