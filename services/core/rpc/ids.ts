const MERCHANT_ID = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a canonical UUID; PostgreSQL rejects others with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** When a UUIDv7 was drawn: its first 48 bits are milliseconds (RFC 9562, section 5.7). */
export function drawnAt(requestId: string): Date {
  return new Date(Number.parseInt(requestId.slice(0, 8) + requestId.slice(9, 13), 16));
}

/** Whether a text is a merchant id (docs/interfaces.md, "Money, identifiers, time"). */
export function isMerchantId(text: string): boolean {
  return MERCHANT_ID.test(text);
}
