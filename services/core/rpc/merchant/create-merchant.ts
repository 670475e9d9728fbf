import { insertMerchant } from '../../storage/merchant/change-merchant.ts';
import type { Method } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { contractColumns } from './contract-columns.ts';
import { newApiKey, newSigningSecret } from './new-credentials.ts';
import { presentMerchant } from './present-merchant.ts';

/** Creates a merchant with its first API key and signing secret. Throws INVALID_REQUEST when the id is taken. */
export const createMerchant: Method<'createMerchant'> = async (
  core,
  { merchantId: id, name, contract, apiKeyManagesWebhook: managesWebhook },
) => {
  const columns = await contractColumns(core, contract);
  const createdAt = core.clock();
  const { row: apiKey, key } = newApiKey({ merchantId: id, managesWebhook }, createdAt);
  const { row: signingSecret, secret } = newSigningSecret(core.cipher, id, createdAt);
  const created = await insertMerchant(core.database, { ...columns, id, name, createdAt }, apiKey, signingSecret);
  if (!created) throw invalidField('merchant_id', 'is taken');
  return { merchant: presentMerchant(created), apiKey: key, signingSecret: secret };
};
