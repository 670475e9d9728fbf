import { HoldfastError } from '../../domain/refusal.ts';
import { updateMerchant as updateStored } from '../../storage/merchant/change-merchant.ts';
import type { Method } from '../core.ts';
import { hurryTo } from '../endpoint/change-endpoint.ts';
import { noSuch } from '../refuse.ts';
import { contractColumns } from './contract-columns.ts';
import { presentMerchant } from './present-merchant.ts';

/** Replaces a merchant's name and contract; holds placed before keep their terms. What waits for an endpoint that has moved is due now. */
export const updateMerchant: Method<'updateMerchant'> = async (core, request) => {
  const { merchantId, name, contract, etag } = request;
  const columns = await contractColumns(core, contract);
  const updated = await updateStored(core.database, merchantId, { ...columns, name }, core.clock(), etag || undefined);
  if (updated === 'CHANGED') {
    throw new HoldfastError('PRECONDITION_FAILED', 'the merchant was changed since it was read; read it again');
  }
  if (updated === 'NOT_FOUND') throw noSuch('merchant');
  core.contracts.forget(merchantId);
  await hurryTo(core, merchantId, updated.moved);
  return { merchant: presentMerchant(updated) };
};
