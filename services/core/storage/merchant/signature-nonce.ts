import { defineEntity, p } from '@mikro-orm/core';
import type { Query, Statement } from '../database.ts';

/** A nonce of a signed capture, kept as long as its signature could be valid. */
export const SignatureNonceEntity = defineEntity({
  name: 'SignatureNonce',
  tableName: 'signature_nonce',
  properties: {
    merchantId: p.text().primary(),
    nonce: p.text().primary(),
    expiresAt: p.datetime(3),
  },
  indexes: [{ name: 'signature_nonce_end', properties: ['expiresAt'] }],
});

/** Marks a nonce as used. Returns false when it was used before. */
export async function useNonce(query: Query, merchantId: string, nonce: string, expiresAt: Date): Promise<boolean> {
  return (await query(USE_NONCE, [merchantId, nonce, expiresAt])).length === 1;
}

const USE_NONCE: Statement = {
  name: 'use-nonce',
  text: `insert into signature_nonce (merchant_id, nonce, expires_at) values ($1, $2, $3)
    on conflict (merchant_id, nonce) do nothing returning nonce`,
};
