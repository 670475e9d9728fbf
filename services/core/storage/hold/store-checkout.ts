import type { Query, Statement } from '../database.ts';

/** Stores a hold's checkout page (sealed) and when recovery looks at the hold next. Only while the checkout is open. */
export async function storeCheckout(
  query: Query,
  requestId: string,
  sealedUrl: Buffer | undefined,
  expiresAt: Date | undefined,
  inquireAt: Date,
): Promise<void> {
  await query(STORE_CHECKOUT, [requestId, sealedUrl, expiresAt, inquireAt]);
}

const STORE_CHECKOUT: Statement = {
  name: 'store-checkout',
  text: `update hold set checkout_url_ciphertext = coalesce($2, checkout_url_ciphertext),
      checkout_expires_at = coalesce($3, checkout_expires_at), inquire_at = $4
    where request_id = $1 and phase = 'AWAITING_CHECKOUT'`,
};
