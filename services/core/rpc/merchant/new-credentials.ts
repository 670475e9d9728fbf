import { randomBytes } from 'node:crypto';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { ApiKeyEntity, type ApiKeyRow } from '../../storage/api-key.ts';
import { hashOf } from '../../storage/cipher.ts';
import { SigningSecretEntity, type SigningSecretRow } from '../../storage/signing-secret.ts';
import type { Core } from '../core.ts';

/** Makes an API key: 256 random bits, of which only the hash is stored. */
export function newApiKey(core: Core, em: SqlEntityManager, merchantId: string): { row: ApiKeyRow; key: string } {
  const key = `hf_${randomBytes(32).toString('base64url')}`;
  const row = em.create(ApiKeyEntity, {
    id: uuidv7(),
    merchantId,
    hash: hashOf(key),
    last4: key.slice(-4),
    createdAt: core.clock(),
  });
  return { row, key };
}

/** Makes a signing secret: 256 random bits, stored encrypted, with a hash that keeps it unique across merchants. */
export function newSigningSecret(
  core: Core,
  em: SqlEntityManager,
  merchantId: string,
): { row: SigningSecretRow; secret: string } {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const id = uuidv7();
  const row = em.create(SigningSecretEntity, {
    id,
    merchantId,
    hash: hashOf(secret),
    ciphertext: core.cipher.seal(secret, `signing-secret:${id}`),
    createdAt: core.clock(),
  });
  return { row, secret };
}
