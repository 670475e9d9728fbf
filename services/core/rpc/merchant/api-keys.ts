import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { ApiKeyEntity } from '../../storage/api-key.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { changeMerchant } from './change-merchant.ts';
import { newApiKey } from './new-credentials.ts';
import { presentApiKey } from './present-merchant.ts';

/** Adds an API key; the answer is the only place that ever shows it. */
export function createApiKey(core: Core): MethodImpl<typeof MerchantService.method.createApiKey> {
  return (request) =>
    changeMerchant(core, request.merchantId, 'api-key.create', async (em) => {
      const { row, key } = newApiKey(core, em, request.merchantId);
      return { apiKey: presentApiKey(row), key };
    });
}

/** Ends an API key; gateways stop taking it within seconds. */
export function revokeApiKey(core: Core): MethodImpl<typeof MerchantService.method.revokeApiKey> {
  return (request) =>
    changeMerchant(
      core,
      request.merchantId,
      'api-key.revoke',
      async (em) => {
        const { apiKeyId: id, merchantId } = request;
        const key = isUuid(id) ? await em.findOne(ApiKeyEntity, { id, merchantId }) : null;
        if (!key) throw refusalOf('OPERATION_NOT_FOUND');
        key.revokedAt ??= core.clock();
        return {};
      },
      { apiKeyId: request.apiKeyId },
    );
}
