/**
 * HTTP Message Signatures (RFC 9421) of captures: algorithm ed25519, a fixed set of components, one key per merchant.
 */
import { createPublicKey, verify } from 'node:crypto';
import { parseField, readSignatureInput, refuseSignature, type SignatureInput } from './signature-input.ts';

/** A request as received; a header that was not sent is ''. */
export interface SignedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly contentDigest: string;
  readonly idempotencyKey: string | undefined;
  readonly signatureInput: string;
  readonly signature: string;
}

/** The key that must have signed, and the time. */
export interface SignatureTerms {
  /** Ed25519, SubjectPublicKeyInfo in PEM. */
  readonly publicKey: string;
  readonly keyid: string;
  /** Seconds since 1970. */
  readonly nowSeconds: number;
}

/** Largest difference between `created` and this clock. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies a request's signature. Returns its nonce, which the caller must still use up, and its creation time. Throws
 * SIGNATURE_REQUIRED with the reason.
 */
export function verifyMessageSignature(
  request: SignedRequest,
  { publicKey, keyid, nowSeconds }: SignatureTerms,
): Pick<SignatureInput, 'nonce' | 'createdSeconds'> {
  const input = readSignatureInput(request.signatureInput);
  const signature = readSignature(request.signature, input.label);
  const values = componentsOf(request);
  demandComponents(input.components, values);
  if (input.keyid !== keyid) throw refuseSignature('The signature parameter keyid must be the merchantId.');
  demandTime(input, nowSeconds);
  const base = [
    ...input.components.map((name) => `"${name}": ${values.get(name)}`),
    `"@signature-params": ${input.parameters}`,
  ].join('\n');
  if (!verify(null, Buffer.from(base, 'latin1'), createPublicKey(publicKey), signature)) {
    throw refuseSignature('The signature does not verify.');
  }
  return input;
}

/** The components that must be signed and their values (RFC 9421, sections 2.1 and 2.2). */
function componentsOf(request: SignedRequest): ReadonlyMap<string, string> {
  const values = new Map([
    ['@method', request.method],
    ['@path', request.path],
    ['content-digest', request.contentDigest],
  ]);
  if (request.idempotencyKey !== undefined) values.set('idempotency-key', request.idempotencyKey);
  return values;
}

/** All of them and nothing else, each once, in any order. */
function demandComponents(signed: readonly string[], demanded: ReadonlyMap<string, string>): void {
  if (signed.length === demanded.size && [...demanded.keys()].every((name) => signed.includes(name))) return;
  throw refuseSignature(
    'The signed components must be "@method", "@path", "content-digest", and "idempotency-key" when that header is ' +
      'sent.',
  );
}

function demandTime({ createdSeconds, expiresSeconds }: SignatureInput, nowSeconds: number): void {
  if (Math.abs(nowSeconds - createdSeconds) > TOLERANCE_SECONDS) {
    throw refuseSignature(
      'The signature was created more than 5 minutes ago, or in the future: check the clock of the machine that signs.',
    );
  }
  if (expiresSeconds !== undefined && nowSeconds > expiresSeconds) throw refuseSignature('The signature has expired.');
}

/** The bytes of the one signature, which must carry the input's label. */
function readSignature(header: string, label: string): Buffer {
  const members = parseField('Signature', header);
  const [bytes, parameters] = members.get(label) ?? [];
  if (members.size !== 1 || !(bytes instanceof ArrayBuffer) || parameters?.size !== 0) {
    throw refuseSignature(
      'The Signature header must carry one signature, under the name that Signature-Input gives it.',
    );
  }
  const signature = Buffer.from(bytes);
  if (`${label}=:${signature.toString('base64')}:` !== header) {
    throw refuseSignature('The Signature header is not in canonical form.');
  }
  return signature;
}
