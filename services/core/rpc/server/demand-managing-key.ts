import type { Interceptor } from '@connectrpc/connect';
import { inNameOf } from '../../actor.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { findLiveApiKey } from '../../storage/merchant/credentials.ts';
import type { Core } from '../core.ts';
import { isForManagingKeys } from './access.ts';
import { callerKey } from './caller.ts';

/** Metadata with the SHA-256 (Base64) of the API key in whose name the gateway calls. */
const KEY_HEADER = 'x-api-key-sha256';

/**
 * Demands of the gateway's calls of a merchant's own webhook an API key of that merchant that manages it; they are audited in the name of
 * that key. The key is looked up at each call, so one that was revoked stops at once. Throws UNAUTHENTICATED, FORBIDDEN.
 */
export function demandsManagingKey(core: Core): Interceptor {
  return (next) => async (request) => {
    const isMerchant = request.contextValues.get(callerKey) === 'gateway' && isForManagingKeys(request.method);
    if (request.stream || !isMerchant) return next(request);
    const hash = request.header.get(KEY_HEADER);
    if (hash === null) throw new HoldfastError('FORBIDDEN', 'the gateway may call this in the name of an API key only');
    const key = await findLiveApiKey(core.database.query, Buffer.from(hash, 'base64'));
    if (!key) throw new HoldfastError('UNAUTHENTICATED', 'the API key is unknown or revoked');
    const { merchantId } = request.message as unknown as { readonly merchantId: string };
    if (key.merchantId !== merchantId) throw new HoldfastError('FORBIDDEN', 'the API key is of another merchant');
    if (!key.managesWebhook)
      throw new HoldfastError('FORBIDDEN', 'the API key may not manage the webhook; an operator creates one that may');
    return inNameOf(`api-key/${key.id}`, () => next(request));
  };
}
