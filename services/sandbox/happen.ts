import assert from 'node:assert/strict';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type BehaviourName, behaviourOf } from './behaviour.ts';
import type { Entry } from './ledger/entry.ts';
import type { Event, EventKind } from './ledger/event.ts';
import type { Books } from './ledger/ledger.ts';
import { remainingOf } from './rpc/authorization.ts';
import { endingOf } from './rpc/outcome.ts';
import { effectOf, letGo, perform, reversalIdOf } from './rpc/perform.ts';
import { refundableOf } from './rpc/refund.ts';

/**
 * Carries out an event that is due: books what the card scheme or the issuer does. Returns the event to report; undefined
 * when nothing was left that it could apply to. Then the event is deleted.
 */
export function happen(books: Books, eventId: string): Event | undefined {
  const event = books.events.find(eventId);
  assert(event, 'an event that is due is there');
  const entry = books.entries.find(event.requestId);
  assert(entry, 'an event names an entry that is not there');
  const amount = HAPPENINGS[event.kind](books, entry, event.occurredAtMs);
  if (amount === undefined) return event;
  if (amount === 0) {
    books.events.drop(eventId);
    return undefined;
  }
  books.events.happened(eventId, amount);
  return { ...event, amount };
}

/** Each returns the amount of the event, minor units; undefined when the event has none. */
const HAPPENINGS: Readonly<Record<EventKind, (books: Books, entry: Entry, atMs: number) => number | undefined>> = {
  checkoutCompleted: () => undefined,
  operationSettled: settle,
  captureReversed: reverse,
  captureReinstated: reinstate,
  authorizationEnded: end,
};

function settle(books: Books, entry: Entry, atMs: number): undefined {
  const { requestId, kind, cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear } = entry;
  const behaviour = entry.behaviour as BehaviourName;
  const accepted = effectOf(behaviour, kind);
  assert(accepted && entry.answer === Answer.ACCEPTED, 'only what was accepted ends later');
  const { endsAfterMs: _, ...effect } = accepted;
  const card = { cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear };
  letGo(books, requestId);
  books.entries.end(requestId, endingOf(entry, { effect, behaviour, card, nowMs: atMs }));
  if (effect.answer === Answer.APPROVED) perform(books, requestId, atMs);
}

/** Takes back what is left of a capture, or half of the capture. */
function reverse(books: Books, capture: Entry): number {
  const authorization = authorizationOf(books, capture);
  const { half, unattributed } = behaviourOf(authorization.behaviour as BehaviourName).reversal ?? {};
  const wanted = half ? Math.max(1, Math.floor(capture.amount / 2)) : capture.amount;
  const reversed = Math.min(wanted, refundableOf(authorization, capture));
  books.entries.add(authorization.requestId, { reversed });
  if (!unattributed) books.entries.add(capture.requestId, { reversed });
  return reversed;
}

/** Reinstates what was taken back. */
function reinstate(books: Books, capture: Entry): number {
  const amount = books.events.find(reversalIdOf(capture.requestId))?.amount ?? 0;
  books.entries.add(capture.authorizationRequestId, { reversed: -amount });
  books.entries.add(capture.requestId, { reversed: -amount });
  return amount;
}

/** Ends an authorization of which something is left. What an accepted operation has reserved stays reserved. */
function end(books: Books, authorization: Entry, atMs: number): number {
  const voided = remainingOf(authorization);
  if (voided === 0) return 0;
  books.entries.add(authorization.requestId, { voided });
  books.entries.endEarly(authorization.requestId, atMs);
  return voided;
}

function authorizationOf(books: Books, { authorizationRequestId }: Entry): Entry {
  const authorization = books.entries.find(authorizationRequestId);
  assert(authorization, 'a capture names an authorization that is not there');
  return authorization;
}
