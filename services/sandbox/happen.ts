import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { EventMessage } from '../../platform/adapter/event-reporter.ts';
import { AuthorizationEnd } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { behaviourOf, effectOf } from './behaviour.ts';
import type { Entry } from './ledger/entry.ts';
import { type Event, type EventKind, eventIdOf } from './ledger/event.ts';
import type { Books } from './ledger/ledger.ts';
import { carryOut, resultOf } from './rpc/outcome.ts';
import { letGo, remainingOf, reversibleOf } from './rpc/perform.ts';

/**
 * Carries out an event that is due: books what the card scheme or the issuer does. Returns the event to report;
 * undefined when nothing was left that it could apply to. Then the event is deleted.
 */
export function happen(books: Books, event: Event): Event | undefined {
  const { eventId, kind, requestId, occurredAtMs } = event;
  const amount = HAPPENINGS[kind](books, books.entries.get(requestId), occurredAtMs);
  if (amount === undefined) return event;
  if (amount > 0) books.events.happened(eventId, amount);
  else books.events.drop(eventId);
  return amount > 0 ? { ...event, amount } : undefined;
}

/** Each returns the amount of the event, minor units; undefined when the event has none. */
const HAPPENINGS: Readonly<Record<EventKind, (books: Books, entry: Entry, atMs: number) => number | undefined>> = {
  checkoutCompleted: () => undefined,

  operationSettled(books, entry, atMs): undefined {
    const { endsAfterMs: _, ...effect } = effectOf(entry.behaviour, entry.kind);
    letGo(books, entry);
    books.entries.end(entry.requestId, carryOut(books, entry, { effect, card: entry, nowMs: atMs }));
  },

  /** Takes back what is left of a capture, or half of the capture. */
  captureReversed(books, capture) {
    const authorization = books.entries.get(capture.authorizationRequestId);
    const { half, unattributed } = behaviourOf(capture.behaviour).reversal ?? {};
    const wanted = half ? halfOf(capture.amount) : capture.amount;
    const reversed = Math.min(wanted, reversibleOf(authorization, capture));
    books.entries.add(authorization.requestId, { reversed });
    if (!unattributed) books.entries.add(capture.requestId, { reversed });
    return reversed;
  },

  /** Gives again what was taken back. */
  captureReinstated(books, { requestId, authorizationRequestId, reversed }) {
    books.entries.add(authorizationRequestId, { reversed: -reversed });
    books.entries.add(requestId, { reversed: -reversed });
    return reversed;
  },

  refundReturned(books, refund) {
    const { authorizationRequestId, captureRequestId } = refund;
    const returned = comeBack(books, refund);
    books.entries.add(authorizationRequestId, { refunded: -returned });
    books.entries.add(captureRequestId, { refunded: -returned });
    return returned;
  },

  creditReturned: comeBack,

  /** Ends an authorization of which something is left. What an accepted operation has reserved stays reserved. */
  authorizationEnded(books, authorization, atMs) {
    const voided = remainingOf(authorization);
    if (voided > 0) {
      books.entries.add(authorization.requestId, { voided });
      books.entries.endEarly(authorization.requestId, atMs);
    }
    return voided;
  },
};

/** A refund or credit comes back, or half of it. */
function comeBack(books: Books, { requestId, amount, behaviour }: Entry): number {
  const returned = behaviourOf(behaviour).returned?.half ? halfOf(amount) : amount;
  books.entries.add(requestId, { returned });
  return returned;
}

/** Half of an amount, rounded down, at least 1. */
const halfOf = (amount: number) => Math.max(1, Math.floor(amount / 2));

/** An event as it is reported to core; the same at every report. */
export function messageOf(books: Books, event: Event): EventMessage {
  const { eventId, occurredAtMs, requestId } = event;
  return { eventId, occurredAt: timestampFromMs(occurredAtMs), event: said(event, books.entries.get(requestId)) };
}

function said({ kind, requestId, amount: minorUnits }: Event, entry: Entry): NonNullable<EventMessage['event']> {
  const { reversal, ended } = behaviourOf(entry.behaviour);
  const amount = BigInt(minorUnits);
  switch (kind) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return { case: kind, value: { requestId, result: resultOf(entry) } };
    case 'captureReversed': {
      const { authorizationRequestId } = entry;
      const about = reversal?.unattributed ? { authorizationRequestId } : { captureRequestId: requestId };
      return { case: kind, value: { ...about, amount, reference: `${entry.reference}_rev` } };
    }
    case 'captureReinstated': {
      const reversalEventId = eventIdOf('captureReversed', requestId);
      const reference = `${entry.reference}_rei`;
      return { case: kind, value: { captureRequestId: requestId, amount, reference, reversalEventId } };
    }
    case 'refundReturned':
      return { case: kind, value: { refundRequestId: requestId, amount, reference: `${entry.reference}_ret` } };
    case 'creditReturned':
      return { case: kind, value: { creditRequestId: requestId, amount, reference: `${entry.reference}_ret` } };
    case 'authorizationEnded': {
      const end = ended?.as === 'voided' ? AuthorizationEnd.VOIDED : AuthorizationEnd.EXPIRED;
      return { case: kind, value: { requestId, end, amount, reference: `${entry.reference}_end` } };
    }
  }
}
