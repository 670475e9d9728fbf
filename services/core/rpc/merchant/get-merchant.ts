import { readMerchant } from '../../storage/merchant/read-merchants.ts';
import type { Method } from '../core.ts';
import { noSuch } from '../refuse.ts';
import { presentMerchant } from './present-merchant.ts';

/** Looks up a merchant. */
export const getMerchant: Method<'getMerchant'> = async (core, { merchantId }) => {
  const found = await readMerchant(core.database, merchantId);
  if (!found) throw noSuch('merchant');
  return { merchant: presentMerchant(found) };
};
