import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { RefusedCheckout } from '../processor/processor.ts';
import { storeCheckout } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import type { Sender } from './facts.ts';
import { named } from './send-to-processor.ts';
import { settle } from './settle-outcome.ts';

/**
 * Opens the hosted page of a stored hold and stores its address. The processor returns the same page for the same hold,
 * so after a lost answer the call is repeated. Resolves with the hold as it is then, or with the refusal that has ended
 * it; undefined = the processor did not answer.
 */
export async function openPage(
  sender: Sender,
  hold: HoldRow,
  merchantName: string,
): Promise<HoldRow | RefusedCheckout | undefined> {
  const { requestId, terminalId, userId, amount, currency, saveCard } = hold;
  const checkout = await sender.processors.of(hold).createCheckout({
    ...named(hold),
    terminalId,
    userId,
    amount,
    currency,
    saveCard,
    merchantName,
    merchantReference: hold.merchantReference ?? '',
    memo: hold.idKey,
    description: hold.description ?? '',
    ...(hold.expectedCaptureAt && { expectedCaptureAt: timestampFromDate(hold.expectedCaptureAt) }),
    returnUrl: hold.returnUrl ?? '',
    expiresAt: hold.checkoutExpiresAt ?? hold.createdAt,
  });
  sender.reach('checkout opened');
  if (!checkout) return undefined;
  if ('refusal' in checkout) {
    await settle(sender, { ...hold, kind: 'HOLD' }, checkout.refusal);
    return checkout;
  }
  const { url, expiresAt } = checkout;
  const sealed = sender.cipher.seal(url, `checkout:${requestId}`);
  await storeCheckout(sender.database.query, requestId, sealed, expiresAt);
  return { ...hold, checkoutUrlCiphertext: sealed, checkoutExpiresAt: expiresAt };
}
