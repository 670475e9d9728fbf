import { createHash } from 'node:crypto';
import { parseField, refuseSignature } from './parse-field.ts';

/**
 * Demands that Content-Digest (RFC 9530) contains the SHA-256 of the body's bytes. Digests by other algorithms are ignored. Throws
 * SIGNATURE_REQUIRED.
 */
export function demandContentDigest(header: string, body: Uint8Array): void {
  const [claimed] = parseField('Content-Digest', header).get('sha-256') ?? [];
  if (!(claimed instanceof ArrayBuffer)) throw refuseSignature('The Content-Digest header has no sha-256.');
  const digest = createHash('sha256').update(body).digest();
  if (!digest.equals(Buffer.from(claimed))) throw refuseSignature('The Content-Digest is not the digest of the body.');
}
