import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { revokeApiKey as revokeStored } from '../../storage/merchant/change-credentials.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';

/** Revokes an API key; gateways reject it within seconds. */
export function revokeApiKey(core: Core): MethodImpl<typeof MerchantService.method.revokeApiKey> {
  return async ({ apiKeyId: id, merchantId }) => {
    const revoked = isUuid(id) && (await revokeStored(core.database, { id, merchantId }, core.clock()));
    if (!revoked || revoked === 'NOT_FOUND') throw refusalOf('OPERATION_NOT_FOUND');
    return {};
  };
}
