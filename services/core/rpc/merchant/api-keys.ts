import { addApiKey, revokeApiKey as revokeStored } from '../../storage/merchant/change-credentials.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { noSuch } from '../refuse.ts';
import { newApiKey } from './new-credentials.ts';
import { presentApiKey } from './present-merchant.ts';

/** Creates an API key; only this response ever contains it. */
export const createApiKey: Method<'createApiKey'> = async (core, { merchantId, managesWebhook }) => {
  const { row, key } = newApiKey({ merchantId, managesWebhook }, core.clock());
  const added = await addApiKey(core.database, row);
  if (added === 'NOT_FOUND') throw noSuch('merchant');
  return { apiKey: presentApiKey(added), key };
};

/** Revokes an API key; gateways reject it within seconds. */
export const revokeApiKey: Method<'revokeApiKey'> = async (core, { apiKeyId: id, merchantId }) => {
  const revoked = isUuid(id) && (await revokeStored(core.database, { id, merchantId }, core.clock()));
  if (!revoked || revoked === 'NOT_FOUND') throw noSuch('API key');
  return {};
};
