import { v5 as uuidv5 } from 'uuid';
import { remainingOf } from '../../../platform/adapter/authorization.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { intentOf } from '../../../platform/adapter/postgres/entries.ts';
import { AuthorizationEnd } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Desk } from '../desk.ts';
import { type Entry, entriesOf, insertEntry, lockEntry, saveEntry } from '../ledger/entry.ts';
import type { Item } from '../ledger/notification.ts';
import { insertEvent } from '../ledger/schema.ts';
import { APPROVED, isOpen } from '../settlement/ending.ts';
import { settle } from '../settlement/settle.ts';
import { giveAgain, takeAway } from './reversal.ts';

/**
 * Books what Adyen, the card scheme, or somebody in the Customer Area did, and reports it to core. The authorization
 * must be locked. Returns false when it must wait for another notification.
 */
export async function applyForeign(desk: Desk, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  if (!item.success) return true;
  // What is under way decides what is left.
  const entries = await entriesOf(query, authorization.requestId);
  if (ENDS.has(item.eventCode) && entries.some((entry) => entry.kind !== 'refund' && isOpen(entry))) return false;
  switch (item.eventCode) {
    case 'CAPTURE':
      return captured(desk, query, item, authorization);
    case 'CANCELLATION':
    case 'TECHNICAL_CANCEL':
      return ended(desk, query, item, authorization, AuthorizationEnd.VOIDED);
    case 'EXPIRE':
      return ended(desk, query, item, authorization, AuthorizationEnd.EXPIRED);
    case 'REFUND':
    case 'CHARGEBACK':
    case 'SECOND_CHARGEBACK':
      return takeAway(desk, query, item, authorization);
    case 'REFUND_FAILED':
    case 'REFUNDED_REVERSED':
    case 'CHARGEBACK_REVERSED':
      return giveAgain(desk, query, item, authorization);
    default:
      return true;
  }
}

const ENDS: ReadonlySet<string> = new Set(['CAPTURE', 'CANCELLATION', 'TECHNICAL_CANCEL', 'EXPIRE']);

/** A namespace for the identifiers of captures that are not ours. */
const FOREIGN = 'b1a8d4be-2d0c-4a53-9f1e-5a1d1a3a9f43';

/** Somebody else captured: core freezes the hold, and hears that what was not captured was given back. */
async function captured(desk: Desk, query: Query, item: Item, authorization: Entry): Promise<boolean> {
  const {
    requestId: authorizationRequestId,
    merchantId,
    account,
    currency,
    terminalId,
    userId,
    tokenId,
  } = authorization;
  const amount = BigInt(item.amount.value);
  desk.log.error('books differ', { requestId: authorizationRequestId, kind: 'captured' });
  if (amount === 0n || amount > remainingOf(authorization)) return true;
  const captureRequestId = uuidv5(item.pspReference, FOREIGN);
  const about = { requestId: captureRequestId, authorizationRequestId, merchantId, account, currency, amount };
  const intent = intentOf('capture', { ...about, terminalId, userId, tokenId, finalCapture: true });
  const entry = await insertEntry(query, intent, { pspReference: item.pspReference });
  if (!entry) return true;
  const { released } = await settle(desk, query, entry, APPROVED, false);
  const value = { authorizationRequestId, captureRequestId, amount, reference: item.pspReference };
  const event = { case: 'foreignCapture', value } as const;
  await insertEvent(query, {
    eventId: `foreign-${captureRequestId}`,
    requestId: authorizationRequestId,
    occurredAt: desk.now(),
    event,
  });
  await reportEnd(desk, query, item, authorization.requestId, AuthorizationEnd.VOIDED, released);
  return true;
}

/** What was left is not reserved any more. */
async function ended(
  desk: Desk,
  query: Query,
  item: Item,
  authorization: Entry,
  end: AuthorizationEnd,
): Promise<boolean> {
  const left = remainingOf(authorization);
  if (authorization.endedAt !== null || left === 0n) return true;
  await saveEntry(query, { ...authorization, voided: authorization.voided + left });
  await reportEnd(desk, query, item, authorization.requestId, end, left);
  return true;
}

async function reportEnd(
  desk: Desk,
  query: Query,
  item: Item,
  requestId: string,
  end: AuthorizationEnd,
  amount: bigint,
) {
  const authorization = await lockEntry(query, requestId);
  const endedAt = desk.now();
  if (authorization) await saveEntry(query, { ...authorization, endedAt, endedHow: end });
  const value = { requestId, end, amount, reference: item.pspReference };
  const event = { case: 'authorizationEnded', value } as const;
  await insertEvent(query, { eventId: `ended-${requestId}`, requestId, occurredAt: endedAt, event });
  desk.onEvent();
}
