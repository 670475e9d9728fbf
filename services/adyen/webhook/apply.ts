import { remainingOf } from '../../../platform/adapter/authorization.ts';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { UUID } from '../../../platform/adapter/identifier.ts';
import { bookReturn, reversedBy } from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { doneOf, isOpen } from '../../../platform/adapter/postgres/entries.ts';
import { type Announced, settleAnnounced, takeAnnounced } from '../../../platform/adapter/postgres/inbox.ts';
import { errorFields } from '../../../platform/log.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Context } from '../adapter-context.ts';
import { ENTRIES, type Entry, findByPspReference } from '../ledger/entry.ts';
import { refusalOf } from '../settlement/request.ts';
import { APPROVED, type Ending, settle, tellCore } from '../settlement/settle.ts';
import { EXPIRED, isStepUp } from '../settlement/step-up.ts';
import { amountOf, applyForeign, giveCaptureAgain, takeBackCapture } from './foreign.ts';
import { type Item, ignore, isRecapture } from './receive.ts';

/** What a notification is about, of what was asked of Adyen. */
const KINDS: Readonly<Record<string, readonly Entry['kind'][]>> = {
  AUTHORISATION: ['authorization'],
  CAPTURE: ['capture'],
  CAPTURE_FAILED: ['capture'],
  CANCELLATION: ['void'],
  TECHNICAL_CANCEL: ['void'],
  REFUND: ['refund'],
  REFUND_FAILED: ['refund'],
  REFUNDED_REVERSED: ['refund'],
  AUTHORISATION_ADJUSTMENT: ['increment', 'decrease', 'extension'],
};

/** Says that what was done failed after all. */
const FAILS_LATER: ReadonlySet<string> = new Set(['CAPTURE_FAILED', 'REFUND_FAILED', 'REFUNDED_REVERSED']);

const AT_ONCE = 8;

/** Deals with the notifications that are due. Adyen sends them in any order, and again. */
export async function applyDue(context: Context): Promise<void> {
  for (;;) {
    const due = await takeAnnounced<Item>(context.database.query, AT_ONCE);
    if (due.length === 0) return;
    await Promise.all(due.map((announced) => applyOne(context, announced)));
  }
}

async function applyOne(context: Context, { key, item }: Announced<Item>): Promise<void> {
  try {
    await context.database.transaction(async (query) => {
      await settleAnnounced(query, key, await apply(context, query, item));
    });
  } catch (error) {
    const { pspReference: eventId, eventCode: kind } = item;
    context.log.error('notification failed', { eventId, kind, ...errorFields(error) });
    await settleAnnounced(context.database.query, key, false);
  }
}

/** Books what a notification says. Returns false when it must wait for another one, or for the answer to a call. */
async function apply(context: Context, query: Query, item: Item): Promise<boolean> {
  if (item.eventCode === 'AUTHORISATION') return applyAuthorisation(context, query, item);
  if (item.eventCode === 'OFFER_CLOSED') return applyClosed(context, query, item);
  const requestId = await paymentOf(query, item);
  const authorization = requestId === undefined ? undefined : await ENTRIES.lock(query, requestId);
  // Somebody else's business on the same account, or a payment of ours of which Adyen has not said how it names it.
  if (authorization?.kind !== 'authorization') {
    return !(await isUnnamed(query, item.merchantReference)) && ignore(context, item, 'unknown payment');
  }
  const kinds = KINDS[item.eventCode] ?? [];
  const own = await findOwn(query, item, authorization, kinds);
  if (own) return applyOwn(context, query, item, own);
  // It may be ours: the answer that says how Adyen names it has not come yet.
  const entries = await ENTRIES.ofAuthorization(query, authorization.requestId);
  if (entries.some((entry) => kinds.includes(entry.kind) && entry.answer === Answer.UNSPECIFIED)) return false;
  return applyForeign(context, query, item, authorization);
}

/**
 * The identifier of the authorization that an item is about. An item without the reference of its payment, as some
 * about disputes are, is about what its own reference names, a dispute that is known, or what our reference in it names.
 */
async function paymentOf(query: Query, { originalReference, pspReference, merchantReference }: Item) {
  const about = (entry: Entry | undefined) => entry?.authorizationRequestId ?? entry?.requestId;
  if (originalReference !== '') return about(await findByPspReference(query, originalReference));
  const named = await findByPspReference(query, pspReference);
  if (named) return about(named);
  const disputed = await reversedBy(query, pspReference);
  if (disputed !== undefined || !UUID.test(merchantReference)) return disputed;
  const own = await ENTRIES.find(query, merchantReference);
  return own?.answer === Answer.UNSPECIFIED ? undefined : about(own);
}

/** Whether a reference is that of an authorization whose answer has not come. */
async function isUnnamed(query: Query, reference: string): Promise<boolean> {
  const entry = UUID.test(reference) ? await ENTRIES.find(query, reference) : undefined;
  return entry?.kind === 'authorization' && entry.answer === Answer.UNSPECIFIED;
}

async function applyAuthorisation(context: Context, query: Query, item: Item): Promise<boolean> {
  const requestId = item.merchantReference;
  const entry = UUID.test(requestId) ? await ENTRIES.lock(query, requestId) : undefined;
  if (entry?.kind === 'authorization') return applyOwn(context, query, item, entry);
  if (!item.success || !UUID.test(requestId)) return ignore(context, item, 'unknown payment');
  // Adyen did what the ledger has fenced, or has lost. What is not ours may look like that, too.
  context.log.error('books differ', { requestId, kind: 'authorization' });
  return true;
}

/** The customer never finished at the issuer: Adyen has given the payment up. */
async function applyClosed(context: Context, query: Query, item: Item): Promise<true> {
  const { merchantReference } = item;
  const entry = UUID.test(merchantReference) ? await ENTRIES.lock(query, merchantReference) : undefined;
  if (!entry || !isStepUp(entry)) return ignore(context, item, 'changes nothing');
  await settle(context, query, entry, EXPIRED, { tell: true });
  return true;
}

/** The modification of ours that a notification is about: by the reference that Adyen answered, or by our own. */
async function findOwn(query: Query, item: Item, authorization: Entry, kinds: readonly Entry['kind'][]) {
  const own = UUID.test(item.merchantReference) ? await ENTRIES.find(query, item.merchantReference) : undefined;
  const candidates = [await findByPspReference(query, item.pspReference), own];
  return candidates.find(
    (entry) => entry && kinds.includes(entry.kind) && entry.authorizationRequestId === authorization.requestId,
  );
}

/**
 * The first end stays, but for what Adyen says to have done, or to have failed, after all. Returns false when it must
 * wait for an earlier notification.
 */
async function applyOwn(context: Context, query: Query, item: Item, entry: Entry): Promise<boolean> {
  const failsLater = FAILS_LATER.has(item.eventCode);
  // The answer to the call names the same reference, but may have been lost.
  const own = failsLater ? entry : { ...entry, pspReference: item.pspReference };
  const ending = endingOf(item, entry);
  const isDone = ending.answer === Answer.APPROVED;
  if (isOpen(entry)) {
    // It had been done and had failed before: that is booked first, or the failure would undo this one.
    if (isRecapture(item)) return false;
    await settle(context, query, own, isDone ? { ...ending, amountDone: amountDoneOf(item, entry) } : ending, {
      tell: true,
    });
    return true;
  }
  const wasDone = entry.answer === Answer.APPROVED;
  if (wasDone && failsLater) {
    const takeBack = entry.kind === 'capture' ? takeBackCapture : takeBackRefund;
    return takeBack(context, query, item, entry);
  }
  if (wasDone && isRecapture(item)) return giveCaptureAgain(context, query, entry);
  const isExpected = entry.errorCode.endsWith(LATER) && !isRecapture(item);
  if (wasDone === isDone || isExpected) return true;
  context.log.error('books differ', { requestId: entry.requestId, kind: entry.kind, reason: item.eventCode });
  if (isDone) await bookAfterAll(context, query, own);
  return true;
}

/** What Adyen did in truth, minor units; null = what was asked for, or not said. */
function amountDoneOf(item: Item, { kind, amount, currency, total }: Entry): bigint | null {
  const said = amountOf(item, { currency });
  if (said === undefined || said === 0n || kind === 'void' || kind === 'extension') return null;
  // Of an adjustment Adyen says the new total.
  const adjusted = kind === 'increment' ? said - (total - amount) : kind === 'decrease' ? total + amount - said : said;
  return adjusted === amount || adjusted < 0n ? null : adjusted;
}

/** Marks an operation that failed after it had been done: that it had been done may be notified later. */
const LATER = '_failed_later';

function endingOf({ reason, eventCode, success }: Item, entry: Entry): Ending {
  const failsLater = FAILS_LATER.has(eventCode);
  if (success && !failsLater) return APPROVED;
  if (eventCode === 'AUTHORISATION') return refusalOf(entry, reason, 'refused');
  return notPerformed(
    `${eventCode.toLowerCase().replace(/_(failed|reversed)$/, '')}${failsLater ? LATER : '_failed'}`,
    reason,
  );
}

/**
 * What was called failed was done: core is told, which freezes the hold, or voids it. What the books cannot hold is not
 * booked.
 */
async function bookAfterAll(context: Context, query: Query, entry: Entry): Promise<void> {
  const authorization = entry.authorizationRequestId
    ? await ENTRIES.lock(query, entry.authorizationRequestId)
    : undefined;
  const isBooked = !authorization || (await fits(query, entry, authorization));
  if (isBooked) await settle(context, query, entry, APPROVED, { tell: true });
  else await tellCore(context, query, { ...entry, ...APPROVED, answer: Answer.APPROVED });
}

async function fits(query: Query, entry: Entry, authorization: Entry): Promise<boolean> {
  if (entry.kind === 'capture' || entry.kind === 'decrease') return entry.amount <= remainingOf(authorization);
  if (entry.kind !== 'refund') return true;
  const capture = await ENTRIES.find(query, entry.captureRequestId ?? '');
  return capture !== undefined && capture.refunded + entry.amount <= doneOf(capture);
}

/** A refund that failed after it had been done came back: its answer stays, and core hears of the return. */
async function takeBackRefund(context: Context, query: Query, item: Item, entry: Entry): Promise<true> {
  const { pspReference: reference } = item;
  await bookReturn(query, entry, { reference, amount: amountOf(item, entry), at: context.now() });
  context.onEvent();
  return true;
}
