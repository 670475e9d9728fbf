import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { useNonce as useStored } from '../../storage/merchant/signature-nonce.ts';
import type { Core } from '../core.ts';

/** Marks a nonce as used, once for all gateways (RFC 9421, section 7.2.2). */
export function useNonce(core: Core): MethodImpl<typeof MerchantService.method.useNonce> {
  return async ({ merchantId, nonce, expiresAt }) => {
    const until = expiresAt ? timestampDate(expiresAt) : core.clock();
    return { fresh: await useStored(core.database.query, merchantId, nonce, until) };
  };
}
