/**
 * The signature of webhook notifications, for whoever sends or receives them.
 *
 * `X-Service-Signature` is Base64(HMAC-SHA256(secret, merchantId + requestId + status + amount + currency)),
 * as the seed's section "Webhook signature" has it: no separators, the key is the UTF-8 bytes of the whole
 * secret text, and the amount is the very text that the body carries (10.5 and 10.50 differ).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

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

function digest(secret: string, fields: SignedFields): Buffer {
  const text = fields.merchantId + fields.requestId + fields.status + fields.amount + fields.currency;
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(text, 'utf8').digest();
}
