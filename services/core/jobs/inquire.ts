import type { Reach } from '../crash-points.ts';
import { NEVER_RECEIVED } from '../domain/operation.ts';
import { checkoutCall } from '../processor/checkout-call.ts';
import { callOverAt, type Processor } from '../processor/processor.ts';
import { type Settlement, settleAttempt } from '../settlement/settle-attempt.ts';
import { settleVoid } from '../settlement/settle-void.ts';
import { ATTEMPT_TABLES, type DueAttempt, takeDueAttempts } from '../storage/attempts.ts';
import type { Cipher } from '../storage/cipher.ts';
import { HoldEntity, type HoldRow } from '../storage/hold.ts';
import { MerchantEntity } from '../storage/merchant.ts';
import { ReleaseEntity, type ReleaseRow } from '../storage/release.ts';
import { storeCheckout } from '../storage/store-checkout.ts';
import { type Work, workOnce } from './work-loop.ts';

/** What recovery works with. */
export interface Recovery extends Settlement {
  readonly processor: Processor;
  readonly cipher: Cipher;
  readonly reach: Reach;
}

const SLOTS = 200;
const INTERVAL_MS = 500;
/** Pauses between inquiries, seconds; after the last one the operation goes to needs review. About a day in all. */
const PAUSES_S = [2, 5, 10, 30, 60, 300, 900, 3_600, 3_600, 3_600, 7_200, 14_400, 28_800, 28_800];
/** When an attempt is asked about whose call came back without an answer. */
export const AFTER_SILENCE_MS = 1_000;

/**
 * Recovery: asks the processor about every attempt whose outcome is open and due, and settles what it answers. Only an answer or
 * a fenced "never seen it" ends an attempt.
 */
export function inquiries(recovery: Recovery): Work<DueAttempt> {
  return {
    name: 'inquire',
    intervalMs: INTERVAL_MS,
    slots: SLOTS,
    keyOf: ({ requestId }) => requestId,
    find: (limit) => takeDue(recovery, limit),
    handle: (attempt) => look(recovery, attempt),
  };
}

/** Looks at what is due, once. Resolves with how many attempts that were. */
export function inquire(recovery: Recovery): Promise<number> {
  return workOnce(inquiries(recovery));
}

async function takeDue(recovery: Recovery, limit: number): Promise<DueAttempt[]> {
  const now = recovery.clock();
  const next = callOverAt(recovery.processor, now);
  const share = Math.ceil(limit / ATTEMPT_TABLES.length);
  const takes = ATTEMPT_TABLES.map((table) => takeDueAttempts(recovery.database.query, table, now, next, share));
  return (await Promise.all(takes)).flat();
}

async function look(recovery: Recovery, attempt: DueAttempt): Promise<void> {
  const { table, requestId, inquiryCount } = attempt;
  const em = recovery.database.orm.em.fork();
  if (table === 'hold') {
    const hold = await em.findOneOrFail(HoldEntity, { requestId });
    if (hold.phase === 'AWAITING_CHECKOUT') return lookAtCheckout(recovery, attempt, hold);
  }
  if (table === 'release' && inquiryCount === 0) {
    const release = await em.findOneOrFail(ReleaseEntity, { requestId });
    if (release.reason === 'LATE' && release.state === 'PENDING') return sendLateVoid(recovery, release);
  }
  const answer = await recovery.processor.inquire(requestId);
  if (answer.found === 'DONE') return settleAttempt(recovery, table, requestId, answer.outcome);
  if (answer.found === 'NEVER_SEEN') return settleAttempt(recovery, table, requestId, NEVER_RECEIVED);
  return later(recovery, attempt);
}

/** Nobody but recovery sends the void of a late authorization, and only at its first look: afterwards it may have arrived. */
async function sendLateVoid(recovery: Recovery, { requestId, holdRequestId }: ReleaseRow): Promise<void> {
  const outcome = await recovery.processor.void(requestId, holdRequestId);
  if (outcome.answer === 'UNKNOWN') {
    const soon = new Date(recovery.clock().getTime() + AFTER_SILENCE_MS);
    await recovery.books.markUnknown('release', requestId, soon);
  } else await settleVoid(recovery, requestId, outcome);
}

/** A checkout without a page gets one; a checkout that is over is left to the expiry. */
async function lookAtCheckout(recovery: Recovery, attempt: DueAttempt, hold: HoldRow): Promise<void> {
  if (hold.checkoutUrlCiphertext != null) return;
  const merchant = await recovery.database.orm.em.fork().findOneOrFail(MerchantEntity, { id: hold.merchantId });
  const checkout = await recovery.processor.createCheckout(checkoutCall(hold, merchant));
  if (!checkout) return later(recovery, attempt);
  const sealed = recovery.cipher.seal(checkout.url, `checkout:${hold.requestId}`);
  await storeCheckout(recovery.database.query, hold.requestId, sealed, checkout.expiresAt, checkout.expiresAt);
}

async function later(recovery: Recovery, attempt: DueAttempt): Promise<void> {
  const pauseS = PAUSES_S[attempt.inquiryCount];
  if (pauseS !== undefined) {
    const at = new Date(recovery.clock().getTime() + pauseS * 1_000);
    return recovery.books.postponeInquiry(attempt.table, attempt.requestId, at);
  }
  if (await recovery.books.markNeedsReview(attempt.table, attempt.requestId)) {
    recovery.log.error('needs_review', { kind: attempt.table, requestId: attempt.requestId });
  }
}
