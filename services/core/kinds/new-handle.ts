import { randomBytes } from 'node:crypto';
import { type Cipher, hashOf } from '../cipher.ts';

/** A new preauthorizationId of a hold, and the columns that keep it, hexadecimal (docs/product.md, "Money, identifiers, time"). */
export function newHandle(cipher: Cipher, requestId: string) {
  const preauthorizationId = `pre_${randomBytes(24).toString('base64url')}`;
  return {
    preauthorizationId,
    idHash: hashOf(preauthorizationId).toString('hex'),
    idCiphertext: cipher.seal(preauthorizationId, `preauthorization:${requestId}`).toString('hex'),
  };
}
