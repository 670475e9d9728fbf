import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Statement } from '../../storage/database.ts';
import type { Core } from '../core.ts';

/** Marks a nonce as used, once for all gateways (RFC 9421, section 7.2.2). */
export function useNonce(core: Core): MethodImpl<typeof MerchantService.method.useNonce> {
  return async (request) => {
    const expiresAt = request.expiresAt ? timestampDate(request.expiresAt) : core.clock();
    const rows = await core.database.query(USE_NONCE, [request.merchantId, request.nonce, expiresAt]);
    return { fresh: rows.length === 1 };
  };
}

const USE_NONCE: Statement = {
  name: 'use-nonce',
  text: `insert into signature_nonce (merchant_id, nonce, expires_at) values ($1, $2, $3)
    on conflict (merchant_id, nonce) do nothing returning nonce`,
};
