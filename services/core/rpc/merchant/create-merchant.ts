import type { MethodImpl } from '@connectrpc/connect';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { MerchantEntity } from '../../storage/merchant.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { stamp } from './change-merchant.ts';
import { contractColumns } from './contract.ts';
import { newApiKey, newSigningSecret } from './new-credentials.ts';
import { presentMerchant } from './present-merchant.ts';
import { refuseGateway } from './refuse-gateway.ts';

/** Creates a merchant with its first API key and signing secret. Errors: INVALID_REQUEST when the name is taken. */
export function createMerchant(core: Core): MethodImpl<typeof MerchantService.method.createMerchant> {
  return async (request) => {
    const columns = contractColumns(request.contract);
    await refuseGateway(core, columns.internalUrl);
    try {
      return await core.database.orm.em.fork().transactional(async (em) => {
        const merchant = em.create(MerchantEntity, {
          ...columns,
          id: request.merchantId,
          name: request.name,
          createdAt: core.clock(),
          changeNumber: 0n,
        });
        const { key } = newApiKey(core, em, merchant.id);
        const { secret } = newSigningSecret(core, em, merchant.id);
        await stamp(core, em, merchant, 'merchant.create');
        return { merchant: await presentMerchant(em, merchant), apiKey: key, signingSecret: secret };
      });
    } catch (error) {
      if (!(error instanceof UniqueConstraintViolationException)) throw error;
      throw invalidField('merchant_id', 'is taken', error);
    }
  };
}
