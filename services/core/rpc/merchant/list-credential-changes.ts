import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Core } from '../core.ts';

/** Returns what WatchCredentials would send next. It reads the database, so it includes every commit of every core. */
export function listCredentialChanges(core: Core): MethodImpl<typeof MerchantService.method.listCredentialChanges> {
  return async ({ afterChangeNumber }) => {
    const { merchants, endedSessions } = await core.credentials.after(afterChangeNumber);
    return { merchants, endedSessions };
  };
}
