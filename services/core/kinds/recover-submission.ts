import { findHold } from '../storage/hold/read-holds.ts';
import { findMerchant } from '../storage/merchant/merchant-row.ts';
import { reconcilingSince } from '../storage/reconciling.ts';
import type { DueSubmission } from '../storage/submission/open-submissions.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import { openPage } from './checkout-page.ts';
import { factsOf, type Sender } from './facts.ts';
import { send } from './send-to-processor.ts';
import { settle } from './settle-outcome.ts';

/**
 * What recovery does next: whether it inquires, and when it looks again if that settles nothing: LATER, by a time at
 * the latest, or never.
 */
export interface Recovered {
  readonly inquires: boolean;
  readonly again?: 'LATER' | Date;
}

const DONE: Recovered = { inquires: false };
const INQUIRE: Recovered = { inquires: true, again: 'LATER' };

/** Sends what recovery itself has to send of a submission that is due, before it inquires. */
export async function recover(sender: Sender, due: DueSubmission): Promise<Recovered> {
  if (due.kind === 'HOLD') return recoverPage(sender, due.requestId);
  if (due.kind === 'RELEASE' || due.kind === 'EXPIRY' || due.kind === 'LATE_VOID') return recoverVoid(sender, due);
  return INQUIRE;
}

/**
 * A checkout whose page is not known gets it. It may have been paid, when the database has gone back in time and lost
 * that.
 */
async function recoverPage(sender: Sender, requestId: string): Promise<Recovered> {
  const hold = await findHold(sender.database.query, requestId);
  if (hold?.phase !== 'AWAITING_CHECKOUT') return INQUIRE;
  const again = hold.checkoutExpiresAt ?? hold.createdAt;
  if (hold.checkoutUrlCiphertext != null) return { inquires: true, again };
  const merchant = await findMerchant(sender.database, hold.merchantId);
  const page = await openPage(sender, hold, merchant?.name ?? '');
  if (!page) return { inquires: false, again };
  return 'refusal' in page ? DONE : { inquires: true, again: page.checkoutExpiresAt ?? again };
}

/**
 * Nobody but recovery sends the void of a late authorization, and only at its first look: afterwards it may have
 * arrived. The processor does not know under our identifier what it did by itself. While the database is being
 * reconciled, nothing is voided.
 */
async function recoverVoid(sender: Sender, { kind, requestId, inquiryCount }: DueSubmission): Promise<Recovered> {
  const { query } = sender.database;
  const row = await findSubmission(query, requestId);
  if (kind === 'LATE_VOID' && (await reconcilingSince(query))) return { inquires: false, again: 'LATER' };
  const isFirstLook = inquiryCount === 0 && kind === 'LATE_VOID';
  if (!row?.reported && !isFirstLook) return INQUIRE;
  const facts = await factsOf(query, kind, requestId);
  await settle(sender, facts, await send(sender, facts));
  return DONE;
}
