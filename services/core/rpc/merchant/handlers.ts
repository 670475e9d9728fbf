import type { ServiceImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Core } from '../core.ts';
import { createApiKey, revokeApiKey } from './api-keys.ts';
import { createMerchant } from './create-merchant.ts';
import { listCredentialChanges } from './list-credential-changes.ts';
import { getMerchant, listMerchants } from './read-merchants.ts';
import { addSigningSecret, retireSigningSecret } from './signing-secrets.ts';
import { updateMerchant } from './update-merchant.ts';
import { useNonce } from './use-nonce.ts';
import { watchCredentials } from './watch-credentials.ts';

/** The handlers of MerchantService. */
export function merchantHandlers(core: Core): ServiceImpl<typeof MerchantService> {
  return {
    createMerchant: createMerchant(core),
    getMerchant: getMerchant(core),
    listMerchants: listMerchants(core),
    updateMerchant: updateMerchant(core),
    createApiKey: createApiKey(core),
    revokeApiKey: revokeApiKey(core),
    addSigningSecret: addSigningSecret(core),
    retireSigningSecret: retireSigningSecret(core),
    watchCredentials: watchCredentials(core),
    listCredentialChanges: listCredentialChanges(core),
    useNonce: useNonce(core),
  };
}
