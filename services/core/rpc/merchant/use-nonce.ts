import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useNonce as useStored } from '../../storage/merchant/signature-nonce.ts';
import type { Method } from '../core.ts';

/** Marks a nonce as used, once for all gateways (RFC 9421, section 7.2.2). */
export const useNonce: Method<'useNonce'> = async (core, { merchantId, nonce, expiresAt }) => {
  const until = expiresAt ? timestampDate(expiresAt) : core.clock();
  return { fresh: await useStored(core.database.query, merchantId, nonce, until) };
};
