/** What names a merchant (docs/product.md, "Money, identifiers, time"). */
export const MERCHANT_ID = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
