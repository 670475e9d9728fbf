import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { retireSigningSecret as retireStored } from '../../storage/merchant/change-credentials.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { invalidField, refusalOf } from '../refuse.ts';

/** Retires a signing secret; gateways reject it within seconds. The last live one cannot be retired. */
export function retireSigningSecret(core: Core): MethodImpl<typeof MerchantService.method.retireSigningSecret> {
  return async ({ signingSecretId: id, merchantId }) => {
    const retired = isUuid(id) && (await retireStored(core.database, { id, merchantId }, core.clock()));
    if (!retired || retired === 'NOT_FOUND') throw refusalOf('OPERATION_NOT_FOUND');
    if (retired === 'LAST') throw invalidField('signing_secret_id', 'is the last live secret; add another first');
    return {};
  };
}
