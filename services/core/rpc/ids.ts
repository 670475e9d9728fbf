const MERCHANT_ID = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text can name a record at all; PostgreSQL would refuse any other as a uuid. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Whether a text can name a merchant (docs/product.md, "Money, identifiers, time"). */
export function isMerchantId(text: string): boolean {
  return MERCHANT_ID.test(text);
}
