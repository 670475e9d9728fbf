/** Captures that only the merchant can have asked for (docs/product.md, "Signed captures"). */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Context } from 'koa';
import type { Core } from '../../core.ts';
import type { Credentials } from '../../credentials.ts';
import { identityOf } from '../authenticate.ts';
import { readIdempotencyKey } from '../idempotency.ts';
import { demandContentDigest } from './content-digest.ts';
import { verifyMessageSignature } from './message-signature.ts';
import { refuseSignature } from './refuse-signature.ts';

/** Twice the tolerance: by then the signature is too old under any clock that we accept. */
const NONCE_KEPT_MS = 600_000;

/**
 * Lets a request pass whose merchant need not sign; of the others it demands a signature over these very bytes, and uses
 * up its nonce. Throws SIGNATURE_REQUIRED, and what core throws when it cannot say whether the nonce is new.
 */
export async function demandSignature(
  ctx: Context,
  body: Uint8Array,
  { credentials, merchants }: { credentials: Credentials; merchants: Core['merchants'] },
): Promise<void> {
  const { merchantId } = identityOf(ctx);
  const publicKey = credentials.captureKeyOf(merchantId);
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
  const newestKey = async () => {
    await credentials.refresh();
    return credentials.captureKeyOf(merchantId);
  };
  const verified = await verifyWithNewest(publicKey, newestKey, verify);
  if (verified === undefined) return;
  const { nonce, createdSeconds } = verified;
  const expiresAt = timestampFromMs(createdSeconds * 1000 + NONCE_KEPT_MS);
  const { fresh } = await merchants.useNonce({ merchantId, nonce, expiresAt });
  if (!fresh) throw refuseSignature('The nonce was used before; each request needs a signature of its own.');
}

/**
 * A contract's key may be used as soon as the change was answered, so what fails is judged once more when there is another key.
 * Answers undefined when none is demanded any more.
 */
async function verifyWithNewest<T>(
  publicKey: string,
  newestKey: () => Promise<string | undefined>,
  verify: (key: string) => T,
): Promise<T | undefined> {
  try {
    return verify(publicKey);
  } catch (refusal) {
    const newest = await newestKey();
    if (newest === publicKey) throw refusal;
    return newest === undefined ? undefined : verify(newest);
  }
}
