import assert from 'node:assert/strict';
import { remainingOf } from '../../../platform/adapter/authorization.ts';
import type { Query } from '../../../platform/adapter/postgres/database.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { type Entry, lockEntry, saveEntry } from '../ledger/entry.ts';
import { insertEvent } from '../ledger/schema.ts';
import { type Ending, resultOf } from './ending.ts';

/**
 * Stores how an operation ended, with what it changed of its authorization and capture, and reports it to core when no
 * call returns it. The authorization, or the entry itself, must be locked, and the operation must not have been done
 * before.
 */
export async function settle(desk: Desk, query: Query, entry: Entry, ending: Ending, tell: boolean): Promise<Entry> {
  const isApproved = ending.answer === Answer.APPROVED;
  const isFinal = ending.answer !== Answer.ACCEPTED;
  const actedAt = desk.now();
  const expiresAt = isApproved && PROLONGS.has(entry.kind) ? new Date(actedAt.getTime() + desk.holdMs) : null;
  const expectedBy = isFinal ? null : new Date((entry.sentAt ?? actedAt).getTime() + desk.resultMs);
  const merged = { ...entry, ...ending, actedAt, expiresAt, expectedBy, dueAt: null };
  const reference = isApproved || !isFinal ? merged.pspReference : '';
  const released = isApproved && entry.authorizationRequestId !== null ? await book(query, entry) : 0n;
  const ended = await saveEntry(query, { ...merged, reference, released });
  if (tell && isFinal) await tellCore(desk, query, ended);
  return ended;
}

const PROLONGS: ReadonlySet<Entry['kind']> = new Set(['authorization', 'extension']);

/** Books what an approved operation does to its authorization and capture. Returns what it gave back. */
async function book(query: Query, entry: Entry): Promise<bigint> {
  const authorization = await lockEntry(query, entry.authorizationRequestId ?? '');
  assert(authorization, 'an operation is about an authorization that is in the ledger');
  const { amount, kind } = entry;
  const left = remainingOf(authorization);
  const { captured, voided, incremented, refunded } = authorization;
  switch (kind) {
    case 'capture':
      // There is one capture, and Adyen gives back what it leaves.
      await saveEntry(query, { ...authorization, captured: captured + amount, voided: voided + left - amount });
      return left - amount;
    case 'void':
      await saveEntry(query, { ...authorization, voided: voided + left });
      return left;
    case 'increment':
      await saveEntry(query, { ...authorization, incremented: incremented + amount });
      return 0n;
    case 'refund': {
      await saveEntry(query, { ...authorization, refunded: refunded + amount });
      const capture = await lockEntry(query, entry.captureRequestId ?? '');
      if (capture) await saveEntry(query, { ...capture, refunded: capture.refunded + amount });
      return 0n;
    }
    default:
      return 0n;
  }
}

/** Stores the event that says how an entry ended. A second, contradicting end is another event. */
export async function tellCore(desk: Desk, query: Query, entry: Entry): Promise<void> {
  const { requestId, answer, actedAt } = entry;
  const value = { requestId, result: resultOf(desk, entry) };
  const event = { case: 'operationSettled', value } as const;
  const occurredAt = actedAt ?? desk.now();
  await insertEvent(query, { eventId: `settled-${requestId}-${answer}`, requestId, occurredAt, event });
  desk.onEvent();
}
