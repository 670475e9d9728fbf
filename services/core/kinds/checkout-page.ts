import { storeCheckout } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold.ts';
import type { Asker } from './kind.ts';

/**
 * Opens the hosted page of a stored hold and stores its address. The processor returns the same page for the same hold, so after a
 * lost answer the call is repeated. Resolves with the hold as it is then; undefined = the processor did not answer.
 */
export async function openPage(asker: Asker, hold: HoldRow, merchantName: string): Promise<HoldRow | undefined> {
  const { requestId, merchantId, terminalId, userId, amount, currency, saveCard, processorAccount: account } = hold;
  const checkout = await asker.processors.of(hold).createCheckout({
    ...{ requestId, merchantId, account, terminalId, userId, amount, currency, saveCard, merchantName },
    merchantReference: hold.merchantReference ?? '',
    returnUrl: hold.returnUrl ?? '',
    expiresAt: hold.checkoutExpiresAt ?? hold.createdAt,
  });
  asker.reach('checkout opened');
  if (!checkout) return undefined;
  const { url, expiresAt } = checkout;
  const sealed = asker.cipher.seal(url, `checkout:${requestId}`);
  await storeCheckout(asker.database.query, requestId, sealed, expiresAt);
  return { ...hold, checkoutUrlCiphertext: sealed, checkoutExpiresAt: expiresAt };
}
