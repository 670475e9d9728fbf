/** What names a merchant (PRODUCT section 4). */
export const MERCHANT_ID = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
