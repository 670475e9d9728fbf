import { revokeApiKey as revokeStored } from '../../storage/merchant/change-credentials.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { noSuch } from '../refuse.ts';

/** Revokes an API key; gateways reject it within seconds. */
export const revokeApiKey: Method<'revokeApiKey'> = async (core, { apiKeyId: id, merchantId }) => {
  const revoked = isUuid(id) && (await revokeStored(core.database, { id, merchantId }, core.clock()));
  if (!revoked || revoked === 'NOT_FOUND') throw noSuch('API key');
  return {};
};
