import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type Cipher, hashOf } from '../../storage/cipher.ts';
import type { ApiKeyRow, SigningSecretRow } from '../../storage/merchant/credentials.ts';

/** Makes an API key of 256 random bits; its row has only the hash. */
export function newApiKey(
  terms: Pick<ApiKeyRow, 'merchantId' | 'managesWebhook'>,
  createdAt: Date,
): { row: ApiKeyRow; key: string } {
  const key = `hf_${randomBytes(32).toString('base64url')}`;
  return { row: { id: uuidv7(), ...terms, hash: hashOf(key), last4: key.slice(-4), createdAt, revokedAt: null }, key };
}

/** Makes a signing secret of 256 random bits; its row has it encrypted, and a hash that is unique across merchants. */
export function newSigningSecret(
  cipher: Cipher,
  merchantId: string,
  createdAt: Date,
): { row: SigningSecretRow; secret: string } {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const id = uuidv7();
  const ciphertext = cipher.seal(secret, `signing-secret:${id}`);
  return { row: { id, merchantId, hash: hashOf(secret), ciphertext, createdAt, retiredAt: null }, secret };
}
