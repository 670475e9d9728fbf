import { createHash, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';

/** With what a merchant signs its captures, OCTs and refunds, when its contract demands that. */
export interface Signer {
  readonly merchantId: string;
  /** Ed25519, in PEM or as a key object. */
  readonly privateKey: string | KeyObject;
}

/** The paths of what is signed, as the gateway sees them, without the prefix of a proxy. */
const SIGNED: readonly string[] = ['/preauthorization/authorization', '/oct', '/refund'];

/** Returns whether a contract may want requests to a path signed. */
export function mayBeSigned(path: string): boolean {
  return SIGNED.includes(path);
}

/**
 * Makes the headers that sign one try of an operation: an HTTP Message Signature (RFC 9421) with a digest of the body (RFC
 * 9530), as docs/signed-captures.md says. A signature is good once.
 */
export function signOperation(
  { merchantId, privateKey }: Signer,
  path: string,
  body: string,
  idempotencyKey: string,
): Record<string, string> {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  const names = '("@method" "@path" "content-digest" "idempotency-key")';
  const created = Math.floor(Date.now() / 1_000);
  const parameters = `${names};created=${created};nonce="${randomUUID()}";keyid="${merchantId}";alg="ed25519"`;
  const base = [
    '"@method": POST',
    `"@path": ${path}`,
    `"content-digest": ${digest}`,
    `"idempotency-key": ${idempotencyKey}`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const key = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey;
  return {
    'content-digest': digest,
    'signature-input': `operation=${parameters}`,
    signature: `operation=:${sign(null, Buffer.from(base), key).toString('base64')}:`,
  };
}
