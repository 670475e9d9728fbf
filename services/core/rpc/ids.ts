const MERCHANT_ID = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a canonical UUID; PostgreSQL rejects others with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Whether a text is a merchant id (docs/product.md, "Money, identifiers, time"). */
export function isMerchantId(text: string): boolean {
  return MERCHANT_ID.test(text);
}
