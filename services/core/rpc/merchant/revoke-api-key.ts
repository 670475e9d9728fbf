import { revokeApiKey as revokeStored } from '../../storage/merchant/change-credentials.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';

/** Revokes an API key; gateways reject it within seconds. */
export const revokeApiKey: Method<'revokeApiKey'> = async (core, { apiKeyId: id, merchantId }) => {
  const revoked = isUuid(id) && (await revokeStored(core.database, { id, merchantId }, core.clock()));
  if (!revoked || revoked === 'NOT_FOUND') throw refusalOf('OPERATION_NOT_FOUND');
  return {};
};
