import assert from 'node:assert/strict';
import { factsOf } from '../books/facts.ts';
import { BY_INQUIRY } from '../domain/contradiction.ts';
import { NEVER_RECEIVED } from '../domain/outcome.ts';
import { endHold } from '../kinds/end-hold.ts';
import { nextLook } from '../kinds/judge-outcome.ts';
import { openPage } from '../kinds/page.ts';
import { finish, settle } from '../kinds/perform.ts';
import type { Sender } from '../kinds/sender.ts';
import { learnPage, settleLate } from '../kinds/settle-late.ts';
import { callOverAt } from '../processor/processor.ts';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../storage/at-processor.ts';
import { findHold } from '../storage/hold/read-holds.ts';
import { findSent } from '../storage/submission/find-sent.ts';
import {
  type DueSubmission,
  type FoundSubmission,
  findCheckoutsThatRanOut,
  findToInquire,
  markNeedsReview,
  postponeInquiry,
  type Taking,
  takeCheckouts,
  takeToInquire,
} from '../storage/submission/open-submissions.ts';
import { findSubmission } from '../storage/submission/read-submissions.ts';
import { SLOTS, type Work } from './work-loop.ts';

const EACH = {
  intervalMs: 500,
  slots: SLOTS,
  keyOf: ({ requestId }: FoundSubmission) => requestId,
  merchantOf: ({ merchantId }: FoundSubmission) => merchantId,
};

/**
 * Recovery: inquires about every submission whose open outcome is due, and settles it by the processor's answer. Only
 * an answer, or a fenced "never seen", ends one. Otherwise it is looked at again at growing intervals, and then needs
 * review.
 */
export function inquiries(recovery: Sender, at: AtProcessor = AT_ANY_PROCESSOR): Work<FoundSubmission, DueSubmission> {
  const { query } = recovery.database;
  return {
    ...EACH,
    name: 'inquire',
    find: (asked) => findToInquire(recovery.database, { ...asked, now: recovery.clock() }, at),
    take: (found) => takeToInquire(query, found, takingOf(recovery)),
    handle: (due) => settleOrPutOff(recovery, due, look),
  };
}

function takingOf({ clock, processors }: Sender): Taking {
  const now = clock();
  return { now, nextAt: callOverAt(processors, now) };
}

/**
 * When to look at a submission again: at growing intervals, and by a time at the latest. Undefined = it is settled, or
 * that is stored already.
 */
type Again = 'LATER' | Date | undefined;

/** Sends what recovery itself has to send, or inquires. */
async function look(recovery: Sender, due: DueSubmission): Promise<Again> {
  if (due.kind === 'HOLD') return lookAtHold(recovery, due);
  if (due.kind === 'RELEASE' || due.kind === 'EXPIRY' || due.kind === 'LATE_VOID') return lookAtVoid(recovery, due);
  return inquire(recovery, due, 'LATER');
}

/** Completes a checkout whose page is unknown. One whose page has closed may have been paid: it is inquired about. */
async function lookAtHold(recovery: Sender, due: DueSubmission): Promise<Again> {
  const { database } = recovery;
  const hold = await findHold(database.query, due.requestId);
  if (hold?.phase !== 'AWAITING_CHECKOUT') return inquire(recovery, due, 'LATER');
  const endsAt = hold.checkoutExpiresAt ?? hold.createdAt;
  if (endsAt <= recovery.clock()) return inquire(recovery, due, 'LATER');
  if (hold.checkoutUrlCiphertext != null) return inquire(recovery, due, endsAt);
  const facts = { ...hold, kind: 'HOLD' } as const;
  const page = await openPage(recovery, facts);
  if (!page) return endsAt;
  if (!('refusal' in page)) return inquire(recovery, due, page.checkoutExpiresAt ?? endsAt);
  await settle(recovery, facts, page.refusal);
  return undefined;
}

/**
 * Nobody but recovery sends the void of a late authorization, and only at its first look: afterwards it may have
 * arrived. The processor does not know under our identifier what it did by itself.
 */
async function lookAtVoid(recovery: Sender, due: DueSubmission): Promise<Again> {
  const { kind, requestId, inquiryCount } = due;
  const { query } = recovery.database;
  const isFirstLook = inquiryCount === 0 && kind === 'LATE_VOID';
  if (!isFirstLook && !(await findSubmission(query, requestId))?.reported) return inquire(recovery, due, 'LATER');
  await finish(recovery, await factsOf(query, kind, requestId));
  return undefined;
}

/** Settles what the processor answers; else returns `again`, or stores when to look again. */
async function inquire(recovery: Sender, due: DueSubmission, again: Again): Promise<Again> {
  const { kind, requestId } = due;
  const processor = recovery.processors.of(due);
  const sent = await findSent(recovery.database.query, requestId);
  assert(sent, 'what is due was stored');
  const answer = await processor.inquire(sent);
  if (answer.found === 'DONE' || answer.found === 'NEVER_SEEN') {
    const outcome = answer.found === 'DONE' ? answer.outcome : NEVER_RECEIVED;
    return (await settleLate(recovery, due, outcome, BY_INQUIRY)) ? undefined : again;
  }
  if (answer.found === 'AT_WORK' && answer.page && (await learnPage(recovery, requestId, answer.page)))
    return undefined;
  const said = answer.found === 'AT_WORK' ? answer.expectedBy : undefined;
  const expectedBy = said && (await processor.acceptedUntil(kind, sent.createdAt, said));
  // An operation that the processor has accepted needs no review before its time is over.
  const nextAt = nextLook(recovery.clock(), expectedBy ?? due.expectedBy ?? undefined);
  if (!nextAt) return again;
  const at = again instanceof Date && again < nextAt ? again : nextAt;
  await postponeInquiry(recovery.database.query, kind, requestId, at, expectedBy);
  return undefined;
}

/** Gives up checkouts, and holds that wait for their customer, that have run out. */
export function checkoutExpiries(
  recovery: Sender,
  at: AtProcessor = AT_ANY_PROCESSOR,
): Work<FoundSubmission, DueSubmission> {
  const { query } = recovery.database;
  return {
    ...EACH,
    name: 'expire-checkouts',
    find: (asked) => findCheckoutsThatRanOut(recovery.database, { ...asked, now: recovery.clock() }, at),
    take: (found) => takeCheckouts(query, found, takingOf(recovery)),
    handle: (due) => settleOrPutOff(recovery, due, giveUp),
  };
}

/**
 * The customer may have finished in the last second: inquires first, which fences, so that no page can be opened any
 * more. A processor that does not fence and does not know the checkout has nothing to give back.
 */
async function giveUp(recovery: Sender, due: DueSubmission): Promise<Again> {
  const { query } = recovery.database;
  const sent = await findSent(query, due.requestId);
  assert(sent, 'what is due was stored');
  const answer = await recovery.processors.of(due).inquire(sent);
  if (answer.found === 'NO_ANSWER') return 'LATER';
  if (answer.found === 'DONE')
    return (await settleLate(recovery, due, answer.outcome, BY_INQUIRY)) ? undefined : 'LATER';
  const hold = await findHold(query, due.requestId);
  if (hold) await endHold(recovery, hold);
  return undefined;
}

/** Pauses between inquiries, seconds; after the last one the operation goes to needs review. About a day in all. */
const PAUSES_S = [2, 5, 10, 30, 60, 300, 900, 3_600, 3_600, 3_600, 7_200, 14_400, 28_800, 28_800];

/**
 * Looks at a submission. What could not be settled, whether there was no answer or something failed, is put off: at
 * growing intervals, and by the given time at the latest; in the end it comes to review. Throws what `look` throws.
 */
async function settleOrPutOff(
  recovery: Sender,
  due: DueSubmission,
  look: (recovery: Sender, due: DueSubmission) => Promise<Again>,
): Promise<void> {
  try {
    const by = await look(recovery, due);
    if (by) await putOff(recovery, due, by);
  } catch (error) {
    await putOff(recovery, due, 'LATER');
    throw error;
  }
}

async function putOff({ database: { query }, clock, log }: Sender, due: DueSubmission, by: 'LATER' | Date) {
  const { kind, requestId, processor } = due;
  const pauseS = PAUSES_S[due.inquiryCount];
  if (pauseS !== undefined) {
    const at = clock().getTime() + pauseS * 1_000;
    return postponeInquiry(query, kind, requestId, new Date(by === 'LATER' ? at : Math.min(at, by.getTime())));
  }
  if (await markNeedsReview(query, kind, requestId)) log.error('needs_review', { kind, requestId, processor });
}
