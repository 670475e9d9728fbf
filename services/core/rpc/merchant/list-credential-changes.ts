import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Core } from '../core.ts';

/** What the feed would tell next. It reads the database at each call, so it has all that any core has committed. */
export function listCredentialChanges(core: Core): MethodImpl<typeof MerchantService.method.listCredentialChanges> {
  return async ({ afterChangeNumber }) => {
    const { merchants, endedSessions } = await core.credentials.after(afterChangeNumber);
    return { merchants, endedSessions };
  };
}
