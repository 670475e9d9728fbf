import { type Cipher, hashOf } from '../cipher.ts';
import type { HoldRow } from './hold-row.ts';

/**
 * The preauthorizationId of a hold, and the columns by which it is found and derived again (docs/interfaces.md). It
 * follows from the requestId and a key of ENCRYPTION_KEYS, so it is not stored, and a hold that a restore has lost gets
 * the same again. Undefined = that key is not known.
 */
export function handleOf(cipher: Cipher, requestId: string, idKey = cipher.keyId) {
  const preauthorizationId = preauthorizationIdOf({ requestId, idKey }, cipher);
  return preauthorizationId && { preauthorizationId, idHash: hashOf(preauthorizationId), idKey };
}

/** The preauthorizationId of a hold. Undefined = the key that it follows from is not known. */
export function preauthorizationIdOf({ requestId, idKey }: Pick<HoldRow, 'requestId' | 'idKey'>, cipher: Cipher) {
  const secret = cipher.derive(`preauthorization:${requestId}`, idKey);
  return secret && `pre_${secret.subarray(0, 24).toString('base64url')}`;
}
