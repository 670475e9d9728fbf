import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { readCredentialChanges } from '../../feeds/credentials-feed.ts';
import type { Core } from '../core.ts';

/** Returns what WatchCredentials would send next. It reads the database, so it includes every commit of every core. */
export function listCredentialChanges(core: Core): MethodImpl<typeof MerchantService.method.listCredentialChanges> {
  return async ({ afterChangeNumber }) => {
    const { merchants, endedSessions } = await readCredentialChanges(core.database, core.cipher, afterChangeNumber);
    return { merchants, endedSessions };
  };
}
