import { v5 as uuidv5 } from 'uuid';
import { remainingOf } from '../../../platform/adapter/authorization.ts';
import {
  bookEnd,
  bookTurn,
  type Reversal,
  reversalsOf,
  takingTurn,
  tellForeignCapture,
} from '../../../platform/adapter/postgres/books.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { aboutOf, doneOf, intentOf, isOpen } from '../../../platform/adapter/postgres/entries.ts';
import { AuthorizationEnd } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Context } from '../adapter-context.ts';
import { fromAdyen } from '../amount.ts';
import { ENTRIES, type Entry } from '../ledger/entry.ts';
import { APPROVED, settle } from '../settlement/settle.ts';
import { type Item, ignore } from './receive.ts';

/**
 * Books what Adyen, the card scheme, or somebody in the Customer Area did, and reports it to core. The authorization
 * must be locked. Returns false when it must wait for another notification.
 */
export async function applyForeign(context: Context, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  if (!item.success) return ignore(context, item, 'not done');
  // What is under way decides what is left.
  const entries = await ENTRIES.ofAuthorization(query, authorization.requestId);
  if (ENDS.has(item.eventCode) && entries.some((entry) => entry.kind !== 'refund' && isOpen(entry))) return false;
  switch (item.eventCode) {
    case 'CAPTURE':
      return captured(context, query, item, authorization);
    case 'CANCELLATION':
    case 'TECHNICAL_CANCEL':
      return ended(context, query, item, authorization, AuthorizationEnd.VOIDED);
    case 'CANCEL_OR_REFUND':
      // Adyen refunds what was captured. What it did is said beside the fields that are signed.
      if (authorization.captured > 0n) return takeAway(context, query, item, authorization);
      return ended(context, query, item, authorization, AuthorizationEnd.VOIDED);
    case 'EXPIRE':
      return ended(context, query, item, authorization, AuthorizationEnd.EXPIRED);
    case 'REFUND':
    case 'CHARGEBACK':
    case 'SECOND_CHARGEBACK':
      return takeAway(context, query, item, authorization);
    case 'REFUND_FAILED':
    case 'REFUNDED_REVERSED':
    case 'CHARGEBACK_REVERSED':
      return giveAgain(context, query, item, authorization);
    default:
      return ignore(context, item, 'changes nothing');
  }
}

const ENDS: ReadonlySet<string> = new Set([
  'CAPTURE',
  'CANCELLATION',
  'TECHNICAL_CANCEL',
  'CANCEL_OR_REFUND',
  'EXPIRE',
]);

/** A namespace for the identifiers of captures that are not ours. */
const FOREIGN = 'b1a8d4be-2d0c-4a53-9f1e-5a1d1a3a9f43';

/** Somebody else captured: core freezes the hold, and hears that what was not captured was given back. */
async function captured(context: Context, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const { requestId } = authorization;
  const amount = amountOf(item, authorization) ?? 0n;
  context.log.error('books differ', { requestId, kind: 'captured' });
  if (amount === 0n || amount > remainingOf(authorization)) return true;
  const { pspReference } = item;
  const foreignId = uuidv5(pspReference, FOREIGN);
  const about = aboutOf(authorization);
  const intent = intentOf('capture', { ...about, requestId: foreignId, amount, finalCapture: true });
  const entry = await ENTRIES.insert(query, intent, { pspReference });
  if (!entry) return true;
  const capture = await settle(context, query, entry, APPROVED);
  await tellForeignCapture(query, capture, context.now());
  await bookEnd(query, requestId, {
    how: AuthorizationEnd.VOIDED,
    at: context.now(),
    left: capture.released,
    isBooked: true,
    reference: pspReference,
  });
  context.onEvent();
  return true;
}

/** The amount of an item, minor units; undefined when it is in another currency than the payment, or not exact. */
export function amountOf({ amount }: Item, { currency }: Pick<Entry, 'currency'>): bigint | undefined {
  return amount.currency === currency ? fromAdyen(amount) : undefined;
}

/** What was left is not reserved any more. */
async function ended(context: Context, query: Query, item: Item, authorization: Entry, how: AuthorizationEnd) {
  const left = remainingOf(authorization);
  if (authorization.endedAt !== null || left === 0n) return true;
  await bookEnd(query, authorization.requestId, { how, at: context.now(), left, reference: item.pspReference });
  context.onEvent();
  return true;
}

/**
 * An amount was taken: by the card scheme, or by a refund at Adyen. Returns false while what was given again before has
 * not been notified.
 */
async function takeAway(context: Context, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const { pspReference: reversalId } = item;
  const { requestId, captured } = authorization;
  const before = (await reversalsOf(query, requestId)).find((one) => one.reversalId === reversalId);
  // A capture's own notification may come after.
  if (captured === 0n || (before && before.turn % 2 === 1)) return false;
  const asked = amountOf(item, authorization);
  const entries = await ENTRIES.ofAuthorization(query, requestId);
  const taking = takingTurn(authorization, entries, { reversalId, amount: asked, before });
  if (taking?.amount !== asked) context.log.error('books differ', { requestId, kind: 'reversal' });
  if (taking) await turn(context, query, taking);
  return true;
}

/**
 * What was taken was given again. A dispute has one reference in all of its notifications; by a setting of the webhook
 * this one may name the payment instead, and is then believed when one thing only was taken. Returns false while that
 * it was taken has not been notified.
 */
async function giveAgain(context: Context, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const taken = (await reversalsOf(query, authorization.requestId)).filter((one) => one.turn % 2 === 1);
  const isOnly = taken.length === 1 && item.pspReference === authorization.pspReference;
  const reversal = taken.find(({ reversalId }) => reversalId === item.pspReference) ?? (isOnly ? taken[0] : undefined);
  if (!reversal) return false;
  await turn(context, query, { ...reversal, turn: reversal.turn + 1 });
  return true;
}

/** A capture failed after it had been done: all of it that was not taken back before is. What was refunded is lost. */
export async function takeBackCapture(context: Context, query: Query, item: Item, capture: Entry): Promise<boolean> {
  const { requestId: captureRequestId } = capture;
  const authorizationRequestId = capture.authorizationRequestId ?? '';
  const amount = doneOf(capture) - capture.reversed;
  const reversalId = `${FAILED}${item.pspReference}`;
  const taken = { reversalId, authorizationRequestId, captureRequestId, amount, turn: 1 };
  if (amount > 0n) await turn(context, query, taken);
  return true;
}

/** A capture that had failed was done again. Returns false while that it failed has not been notified. */
export async function giveCaptureAgain(context: Context, query: Query, capture: Entry): Promise<boolean> {
  const reversals = await reversalsOf(query, capture.authorizationRequestId ?? '');
  const isFailure = ({ reversalId, captureRequestId }: Reversal) =>
    captureRequestId === capture.requestId && reversalId.startsWith(FAILED);
  const failure = reversals.find((one) => isFailure(one) && one.turn % 2 === 1);
  if (!failure) return false;
  await turn(context, query, { ...failure, turn: failure.turn + 1 });
  return true;
}

/** Names the reversal of a capture that failed. */
const FAILED = 'failed-';

async function turn(context: Context, query: Query, reversal: Reversal): Promise<void> {
  await bookTurn(query, reversal, context.now());
  context.onEvent();
}
