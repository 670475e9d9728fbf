/**
 * The signatures of webhook notifications, for whoever sends or receives them.
 *
 * `X-Service-Signature` is Base64(HMAC-SHA256(secret, merchantId + requestId + status + amount + currency)),
 * as docs/product.md, "Notifications", has it: no separators, the key is the UTF-8 bytes of the whole
 * secret text, and the amount is the very text that the body carries (10.5 and 10.50 differ). It covers five fields, not the rest of the body, the path or the time.
 *
 * `webhook-signature` follows Standard Webhooks v1 (github.com/standard-webhooks/standard-webhooks, spec section
 * "Signature scheme"): "v1," + Base64(HMAC-SHA256(key, id + "." + timestamp + "." + body)), where the key is the
 * Base64-decoded part of the secret after `whsec_`. It covers the whole body and the time.
 *
 * A merchant may copy this file: it needs nothing but node:crypto. What a receiver must do besides, and the same in other
 * languages, is in docs/verify-webhooks.md.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** The five signed fields, as text. */
export interface SignedFields {
  readonly merchantId: string;
  readonly requestId: string;
  readonly status: string;
  /** Source text of the amount in the body, not a number that was printed again. */
  readonly amount: string;
  readonly currency: string;
}

/** Names of the fields that the signature covers, in the order in which they are signed. */
export const SIGNED_FIELDS = ['merchantId', 'requestId', 'status', 'amount', 'currency'] as const;

/** Signs a notification. Answers 44 characters of Base64. */
export function signNotification(secret: string, fields: SignedFields): string {
  return digest(secret, fields).toString('base64');
}

/**
 * Tells whether a header proves that the notification was signed with one of the secrets. Takes the same time for
 * every secret and every well-formed header: each secret is tried, and each comparison is constant-time.
 * A header that is not 44 canonical Base64 characters is refused, never thrown at.
 */
export function verifyNotification(secrets: readonly string[], fields: SignedFields, header: unknown): boolean {
  const claimed = decodeSignature(header);
  let verified = false;
  for (const secret of secrets) {
    const equal = timingSafeEqual(digest(secret, fields), claimed ?? NO_SIGNATURE);
    verified = (equal && claimed !== undefined) || verified;
  }
  return verified;
}

/** What a Standard Webhooks signature covers. */
export interface StandardWebhook {
  /** Header `webhook-id`: the same in every attempt. */
  readonly id: string;
  /** Header `webhook-timestamp`: when the attempt was made, whole seconds since 1970. */
  readonly timestampSeconds: number;
  /** The body byte for byte; text counts as UTF-8. */
  readonly body: string | Uint8Array;
}

/** Signs one attempt for Standard Webhooks. Answers `v1,` and 44 characters; several are joined by a space. */
export function signStandardWebhook(secret: string, message: StandardWebhook): string {
  return `v1,${standardDigest(secret, message).toString('base64')}`;
}

/** How far a sender's clock, or a recorded message, may be off: the specification's five minutes. */
const TOLERANCE_SECONDS = 300;

/**
 * Tells whether the three headers of Standard Webhooks prove that the body was signed with one of the secrets, now.
 * `nowSeconds` is the receiver's clock, seconds since 1970. Malformed headers are refused, never thrown at.
 */
export function verifyStandardWebhook(
  secrets: readonly string[],
  headers: { readonly id: unknown; readonly timestamp: unknown; readonly signature: unknown },
  body: string | Uint8Array,
  nowSeconds: number,
): boolean {
  const { id, timestamp, signature } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string') return false;
  if (id === '' || !/^[0-9]{1,12}$/.test(timestamp)) return false;
  const timestampSeconds = Number(timestamp);
  if (String(timestampSeconds) !== timestamp) return false;
  const claims = signature
    .split(' ', MAX_SIGNATURES)
    .map((claim) => (claim.startsWith('v1,') ? decodeSignature(claim.slice(3)) : undefined));
  let verified = false;
  for (const secret of secrets) {
    const digest = standardDigest(secret, { id, timestampSeconds, body });
    for (const claimed of claims) {
      const equal = timingSafeEqual(digest, claimed ?? NO_SIGNATURE);
      verified = (equal && claimed !== undefined) || verified;
    }
  }
  return verified && Math.abs(nowSeconds - timestampSeconds) <= TOLERANCE_SECONDS;
}

/** A sender with two live secrets sends two; more than a few are noise. */
const MAX_SIGNATURES = 8;

/**
 * Decodes a signature header. Node's decoder ignores junk and reads `…7R=` like `…7Q=`, so only the one canonical
 * spelling of 32 bytes is taken; anything else is undefined.
 */
export function decodeSignature(header: unknown): Buffer | undefined {
  if (typeof header !== 'string' || !/^[A-Za-z0-9+/]{43}=$/.test(header)) return undefined;
  const bytes = Buffer.from(header, 'base64');
  return bytes.toString('base64') === header ? bytes : undefined;
}

const NO_SIGNATURE = Buffer.alloc(32);

function standardDigest(secret: string, { id, timestampSeconds, body }: StandardWebhook): Buffer {
  // Node takes a key object, or text, several times as fast as the bytes themselves.
  const key = createSecretKey(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestampSeconds}.`, 'utf8').update(body).digest();
}

function digest(secret: string, fields: SignedFields): Buffer {
  const text = fields.merchantId + fields.requestId + fields.status + fields.amount + fields.currency;
  return createHmac('sha256', secret).update(text, 'utf8').digest();
}
