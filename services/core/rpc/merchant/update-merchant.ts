import { updateMerchant as updateStored } from '../../storage/merchant/change-merchant.ts';
import type { Method } from '../core.ts';
import { refusalOf } from '../refuse.ts';
import { contractColumns } from './contract-columns.ts';
import { presentMerchant } from './present-merchant.ts';

/** Replaces a merchant's name and contract; holds placed before keep their terms. */
export const updateMerchant: Method<'updateMerchant'> = async (core, { merchantId, name, contract }) => {
  const columns = await contractColumns(core, contract);
  const updated = await updateStored(core.database, merchantId, { ...columns, name }, core.clock());
  if (updated === 'NOT_FOUND') throw refusalOf('OPERATION_NOT_FOUND');
  core.contracts.forget(merchantId);
  return { merchant: presentMerchant(updated) };
};
