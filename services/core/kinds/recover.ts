import { findHold } from '../storage/hold/read-holds.ts';
import { findMerchant } from '../storage/merchant/merchant.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import type { DueSubmission } from '../storage/submission/open-submissions.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import { openPage } from './checkout.ts';
import { factsOf, type Sender } from './facts.ts';
import { send } from './send.ts';
import { settle } from './settle.ts';

/** What recovery does next: nothing more, INQUIRE, or look again LATER, or by a time at the latest. */
export type Recovered = 'DONE' | 'INQUIRE' | 'LATER' | Date;

/** Sends what recovery itself has to send of a submission that is due, before it inquires. */
export async function recover(sender: Sender, due: DueSubmission): Promise<Recovered> {
  if (due.kind === 'HOLD') return recoverPage(sender, due.requestId);
  if (due.kind === 'RELEASE' || due.kind === 'EXPIRY' || due.kind === 'LATE_VOID') return recoverVoid(sender, due);
  return 'INQUIRE';
}

/**
 * A checkout whose page is not known gets it; one whose page is known is left to its end. While the database is being
 * reconciled, its result may be one that was lost.
 */
async function recoverPage(sender: Sender, requestId: string): Promise<Recovered> {
  const { query } = sender.database;
  const hold = await findHold(query, requestId);
  if (hold?.phase !== 'AWAITING_CHECKOUT') return 'INQUIRE';
  const end = hold.checkoutExpiresAt ?? hold.createdAt;
  if (hold.checkoutUrlCiphertext != null) return (await reconcilingSince(query)) ? 'INQUIRE' : end;
  const merchant = await findMerchant(sender.database, hold.merchantId);
  return (await openPage(sender, hold, merchant?.name ?? '')) ? 'DONE' : end;
}

/**
 * Nobody but recovery sends the void of a late authorization, and only at its first look: afterwards it may have
 * arrived. The processor does not know under our identifier what it did by itself. While the database is being
 * reconciled, nothing is voided.
 */
async function recoverVoid(sender: Sender, { kind, requestId, inquiryCount }: DueSubmission): Promise<Recovered> {
  const { query } = sender.database;
  const row = await findSubmission(query, requestId);
  if (kind === 'LATE_VOID' && (await reconcilingSince(query))) return 'LATER';
  const isFirstLook = inquiryCount === 0 && kind === 'LATE_VOID';
  if (!row?.reported && !isFirstLook) return 'INQUIRE';
  const facts = await factsOf(query, kind, requestId);
  await settle(sender, facts, await send(sender, facts));
  return 'DONE';
}
