import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { addApiKey } from '../../storage/merchant/change-credentials.ts';
import type { Core } from '../core.ts';
import { refusalOf } from '../refuse.ts';
import { newApiKey } from './new-credentials.ts';
import { presentApiKey } from './present-merchant.ts';

/** Creates an API key; only this response ever contains it. */
export function createApiKey(core: Core): MethodImpl<typeof MerchantService.method.createApiKey> {
  return async ({ merchantId, managesWebhook }) => {
    const { row, key } = newApiKey({ merchantId, managesWebhook }, core.clock());
    const added = await addApiKey(core.database, row);
    if (added === 'NOT_FOUND') throw refusalOf('OPERATION_NOT_FOUND');
    return { apiKey: presentApiKey(added), key };
  };
}
