import { createHash, createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';

/** With what a merchant signs its captures, when its contract demands that. */
export interface CaptureSigner {
  readonly merchantId: string;
  /** Ed25519, in PEM or as a key object. */
  readonly privateKey: string | KeyObject;
}

/** The path as the gateway sees it, without the prefix of a proxy. */
const PATH = '/preauthorization/authorization';

/**
 * Makes the headers that sign one try of a capture: an HTTP Message Signature (RFC 9421) with a digest of the body (RFC
 * 9530), as docs/signed-captures.md says. A signature is good once.
 */
export function captureSignature({ merchantId, privateKey }: CaptureSigner, body: string, idempotencyKey: string) {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  const names = '("@method" "@path" "content-digest" "idempotency-key")';
  const created = Math.floor(Date.now() / 1_000);
  const parameters = `${names};created=${created};nonce="${randomUUID()}";keyid="${merchantId}";alg="ed25519"`;
  const base = [
    '"@method": POST',
    `"@path": ${PATH}`,
    `"content-digest": ${digest}`,
    `"idempotency-key": ${idempotencyKey}`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const key = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey;
  return {
    'content-digest': digest,
    'signature-input': `capture=${parameters}`,
    signature: `capture=:${sign(null, Buffer.from(base), key).toString('base64')}:`,
  };
}
