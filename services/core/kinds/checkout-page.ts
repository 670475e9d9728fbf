import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HoldFacts } from '../books/facts.ts';
import type { RefusedCheckout } from '../processor/processor.ts';
import { storeCheckout } from '../storage/hold/change-hold.ts';
import type { HoldRow } from '../storage/hold/hold-row.ts';
import { findMerchant } from '../storage/merchant/merchant-row.ts';
import { named } from './send-to-processor.ts';
import type { Sender } from './sender.ts';

/**
 * Opens the hosted page of a stored hold and stores its address. The processor returns the same page for the same hold,
 * so after a lost answer the call is repeated. Resolves with the hold as it is then, or with the processor's refusal;
 * undefined = the processor did not answer, or the checkout has ended meanwhile.
 */
export async function openPage(
  { processors, database, cipher, reach }: Sender,
  facts: HoldFacts,
): Promise<HoldRow | RefusedCheckout | undefined> {
  const { requestId, merchantId, terminalId, userId, amount, currency, saveCard } = facts;
  const merchant = await findMerchant(database, merchantId);
  const checkout = await processors.of(facts).createCheckout({
    ...named(facts),
    terminalId,
    userId,
    amount,
    currency,
    saveCard,
    merchantName: merchant?.name ?? '',
    merchantReference: facts.merchantReference ?? '',
    memo: facts.idKey,
    description: facts.description ?? '',
    ...(facts.expectedCaptureAt && { expectedCaptureAt: timestampFromDate(facts.expectedCaptureAt) }),
    returnUrl: facts.returnUrl ?? '',
    expiresAt: facts.checkoutExpiresAt ?? facts.createdAt,
  });
  reach('checkout opened');
  if (!checkout || 'refusal' in checkout) return checkout;
  const { url, expiresAt } = checkout;
  return storeCheckout(database.query, requestId, cipher.seal(url, `checkout:${requestId}`), expiresAt);
}
