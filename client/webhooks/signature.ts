/**
 * Signs and verifies webhook notifications, for senders and receivers.
 *
 * `X-Service-Signature` is Base64(HMAC-SHA256(secret, merchantId + requestId + status + amount + currency)), as
 * docs/notifications.md says: no separators, the key is the UTF-8 bytes of the whole secret, and the amount
 * is the text in the body (10.5 and 10.50 differ). It covers five fields, but not the rest of the body, the path or the
 * time.
 *
 * `webhook-signature` follows Standard Webhooks v1 (github.com/standard-webhooks/standard-webhooks, spec section
 * "Signature scheme"): "v1," + Base64(HMAC-SHA256(key, id + "." + timestamp + "." + body)), where the key is the
 * Base64-decoded part of the secret after `whsec_`. It covers the whole body and the time.
 *
 * Merchants may copy this file: it depends on node:crypto only. docs/verify-webhooks.md has the same in other
 * languages, and says what else a receiver must do.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** The five signed fields, as text. */
export interface SignedFields {
  readonly merchantId: string;
  readonly requestId: string;
  readonly status: string;
  /** The amount as it is written in the body, not a number printed again. */
  readonly amount: string;
  readonly currency: string;
}

/** The signed fields, in the order in which they are signed. */
export const SIGNED_FIELDS = ['merchantId', 'requestId', 'status', 'amount', 'currency'] as const;

/** Signs a notification. Returns 44 characters of Base64. */
export function signNotification(secret: string, fields: SignedFields): string {
  return digest(secret, fields).toString('base64');
}

/** Thrown for a signing secret that is none, such as the text of an environment variable that is not set. */
export class InvalidSecret extends Error {
  override readonly name = 'InvalidSecret';
}

/**
 * The form of a signing secret: `whsec_` and at least 24 bytes of canonical Base64, as Standard Webhooks demands. Any
 * sender can sign with an empty key, so a receiver whose secret is empty would accept every forgery.
 */
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?$/;

/** Returns whether a text has the form of a signing secret. */
export function isSigningSecret(secret: unknown): secret is string {
  return typeof secret === 'string' && SECRET.test(secret);
}

/** Throws InvalidSecret unless each has the form of a secret. The message does not quote it. */
function demandSecrets(secrets: readonly string[]): void {
  for (const [index, secret] of secrets.entries()) {
    if (!isSigningSecret(secret)) {
      throw new InvalidSecret(
        `secrets[${index}] is no signing secret: whsec_ and at least 24 bytes of Base64, as it was issued. ` +
          'Is the variable that it comes from set?',
      );
    }
  }
}

/**
 * Returns true when the header is a signature of the fields with one of the secrets. It takes the same time for every
 * secret and every well-formed header: it tries all secrets, and compares in constant time. It returns false for a
 * header that is not 44 canonical Base64 characters. Throws InvalidSecret.
 */
export function verifyNotification(secrets: readonly string[], fields: SignedFields, header: unknown): boolean {
  demandSecrets(secrets);
  const claimed = decodeSignature(header);
  let verified = false;
  for (const secret of secrets) {
    const equal = timingSafeEqual(digest(secret, fields), claimed ?? NO_SIGNATURE);
    verified = (equal && claimed !== undefined) || verified;
  }
  return verified;
}

/** The signed parts of a Standard Webhooks message. */
export interface StandardWebhook {
  /** Header `webhook-id`: the same in every attempt. */
  readonly id: string;
  /** Header `webhook-timestamp`: when the attempt was made, whole seconds since 1970. */
  readonly timestampSeconds: number;
  /** The body byte for byte; text counts as UTF-8. */
  readonly body: string | Uint8Array;
}

/**
 * Signs one attempt for Standard Webhooks. Returns `v1,` and 44 characters; join several by a space. Throws
 * InvalidSecret.
 */
export function signStandardWebhook(secret: string, message: StandardWebhook): string {
  demandSecrets([secret]);
  return `v1,${standardDigest(secret, message).toString('base64')}`;
}

/** Maximum age of a message, and maximum lead of the sender's clock: the specification's five minutes. */
const TOLERANCE_SECONDS = 300;

/**
 * Returns true when the three Standard Webhooks headers are a current signature of the body with one of the secrets.
 * `nowSeconds` is the receiver's clock, seconds since 1970. It returns false for malformed headers. Throws
 * InvalidSecret.
 */
export function verifyStandardWebhook(
  secrets: readonly string[],
  headers: { readonly id: unknown; readonly timestamp: unknown; readonly signature: unknown },
  body: string | Uint8Array,
  nowSeconds: number,
): boolean {
  demandSecrets(secrets);
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

/** A sender with two live secrets sends two signatures; more than a few are ignored. */
const MAX_SIGNATURES = 8;

/**
 * Decodes a signature header; undefined unless it is the canonical spelling of 32 bytes. Node's own decoder ignores
 * junk and reads `…7R=` like `…7Q=`.
 */
export function decodeSignature(header: unknown): Buffer | undefined {
  if (typeof header !== 'string' || !/^[A-Za-z0-9+/]{43}=$/.test(header)) return undefined;
  const bytes = Buffer.from(header, 'base64');
  return bytes.toString('base64') === header ? bytes : undefined;
}

const NO_SIGNATURE = Buffer.alloc(32);

function standardDigest(secret: string, { id, timestampSeconds, body }: StandardWebhook): Buffer {
  // A key object, or text, is several times as fast here as the bytes (measured).
  const key = createSecretKey(secret.slice('whsec_'.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestampSeconds}.`, 'utf8').update(body).digest();
}

function digest(secret: string, fields: SignedFields): Buffer {
  const text = fields.merchantId + fields.requestId + fields.status + fields.amount + fields.currency;
  return createHmac('sha256', secret).update(text, 'utf8').digest();
}
