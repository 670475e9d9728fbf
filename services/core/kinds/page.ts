import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HoldFacts } from '../books/facts.ts';
import type { Page } from '../domain/outcome.ts';
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
export async function openPage(sender: Sender, facts: HoldFacts): Promise<HoldRow | RefusedCheckout | undefined> {
  const { processors, database, reach } = sender;
  const { merchantId, terminalId, userId, amount, currency, saveCard } = facts;
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
  return storePage(sender, facts, checkout);
}

/** Stores the page that the customer of a hold goes to. Returns the hold; undefined = it has its result. */
export function storePage({ database, cipher }: Pick<Sender, 'database' | 'cipher'>, facts: HoldFacts, page: Page) {
  const { requestId } = facts;
  const askedMs = (facts.checkoutExpiresAt ?? pageEnd(facts.createdAt)).getTime();
  // A page keeps its hold open, so it closes not much later than asked.
  const expiresAt = new Date(Math.min(page.expiresAt?.getTime() ?? askedMs, askedMs + LONGEST_OVERTIME_MS));
  return storeCheckout(database.query, requestId, cipher.seal(page.url, `checkout:${requestId}`), expiresAt);
}

const LONGEST_OVERTIME_MS = 24 * 3_600_000;

/** When a page that is asked for now shall close: in half an hour (docs/sandbox.md, "Checkout"). */
export function pageEnd(now: Date): Date {
  return new Date(now.getTime() + 30 * 60 * 1_000);
}
