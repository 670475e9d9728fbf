import { type Query, sql } from '../database.ts';

/** Marks the nonce of a signed capture as used while the signature could be valid. False = it was used before. */
export async function useNonce(query: Query, merchantId: string, nonce: string, expiresAt: Date): Promise<boolean> {
  return (await query(USE_NONCE, [merchantId, nonce, expiresAt])).length === 1;
}

const USE_NONCE = sql('use-nonce')`insert into signature_nonce (merchant_id, nonce, expires_at) values ($1, $2, $3)
    on conflict (merchant_id, nonce) do nothing returning nonce`;
