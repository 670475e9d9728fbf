/** Verifies the signatures of captures, OCTs and refunds (docs/signed-captures.md). */
import { createHash } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import type { Credentials, SignedOperation } from '../../core/credentials.ts';
import { readIdempotencyKey } from '../../resource/write-operation.ts';
import type { RestCall } from '../route.ts';
import { parseField, refuseSignature, verifyMessageSignature } from './message-signature.ts';

/** The request headers, for a route's description. The checks in this folder demand more than a schema can say. */
export const SIGNATURE_HEADERS = {
  'Content-Digest': z.string().describe('sha-256 of the body (RFC 9530)').optional(),
  'Signature-Input': z
    .string()
    .describe('"@method" "@path" "content-digest", and "idempotency-key" when sent (RFC 9421)')
    .optional(),
  Signature: z.string().describe('Ed25519 (RFC 9421)').optional(),
};

/** Twice the tolerance: after that the signature is too old by any clock that is accepted. */
const NONCE_KEPT_MS = 600_000;

/**
 * Makes the check of an operation's route: it demands a signature over exactly the bytes of the body, and uses up its
 * nonce; a merchant whose contract does not ask for signatures of the operation passes. Throws SIGNATURE_REQUIRED, and
 * what core throws when the nonce cannot be checked.
 */
export function demandSignature(operation: SignedOperation) {
  return async ({ ctx, core, credentials, merchantId }: SignedCall, body: Uint8Array): Promise<void> => {
    const keyNow = () => credentials.signingKeyOf(merchantId, operation);
    const publicKey = keyNow();
    if (publicKey === undefined) return;
    const contentDigest = ctx.get('content-digest');
    const request = {
      method: ctx.method,
      path: ctx.path,
      contentDigest,
      idempotencyKey: readIdempotencyKey(ctx).idempotencyKey,
      signatureInput: ctx.get('signature-input'),
      signature: ctx.get('signature'),
    };
    const nowSeconds = Math.floor(Date.now() / 1000);
    demandContentDigest(contentDigest, body);
    const verify = (key: string) => verifyMessageSignature(request, { publicKey: key, keyid: merchantId, nowSeconds });
    const verified = await verifyWithNewest(credentials, publicKey, keyNow, verify);
    if (verified === undefined) return;
    const { nonce, createdSeconds } = verified;
    const expiresAt = timestampFromMs(createdSeconds * 1000 + NONCE_KEPT_MS);
    const { fresh } = await core.merchants.useNonce({ merchantId, nonce, expiresAt });
    if (!fresh) throw refuseSignature('The nonce was used before; each request needs a signature of its own.');
  };
}

type SignedCall = Pick<RestCall, 'ctx' | 'core' | 'credentials' | 'merchantId'>;

/**
 * A new contract key is valid as soon as the change was answered. So when verification fails, the newest key is
 * fetched and tried. Returns undefined when the contract no longer asks for signatures.
 */
async function verifyWithNewest<T>(
  credentials: Pick<Credentials, 'refresh'>,
  publicKey: string,
  keyNow: () => string | undefined,
  verify: (key: string) => T,
): Promise<T | undefined> {
  try {
    return verify(publicKey);
  } catch {
    await credentials.refresh();
    const newest = keyNow();
    return newest === undefined ? undefined : verify(newest);
  }
}

/**
 * Demands that Content-Digest (RFC 9530) contains the SHA-256 of the body's bytes. Digests by other algorithms are
 * ignored. Throws SIGNATURE_REQUIRED.
 */
export function demandContentDigest(header: string, body: Uint8Array): void {
  const [claimed] = parseField('Content-Digest', header).get('sha-256') ?? [];
  if (!(claimed instanceof ArrayBuffer)) throw refuseSignature('The Content-Digest header has no sha-256.');
  const digest = createHash('sha256').update(body).digest();
  if (!digest.equals(Buffer.from(claimed))) throw refuseSignature('The Content-Digest is not the digest of the body.');
}
