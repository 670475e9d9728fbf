import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { EventMessage } from '../../platform/adapter/event-reporter.ts';
import { AuthorizationEnd } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { behaviourOf, effectOf } from './behaviour.ts';
import type { Entry } from './ledger/entry.ts';
import type { Event, EventKind } from './ledger/event.ts';
import type { Books } from './ledger/ledger.ts';
import { cardOf, endingOf, resultOf } from './rpc/outcome.ts';
import { letGo, perform, refundableOf, remainingOf, reversalIdOf } from './rpc/perform.ts';

/**
 * Carries out an event that is due: books what the card scheme or the issuer does. Returns the event to report;
 * undefined when nothing was left that it could apply to. Then the event is deleted.
 */
export function happen(books: Books, eventId: string): Event | undefined {
  const event = books.events.find(eventId);
  assert(event, 'an event that is due is there');
  const amount = HAPPENINGS[event.kind](books, books.entries.get(event.requestId), event.occurredAtMs);
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
  const { requestId, kind, behaviour } = entry;
  assert(entry.answer === Answer.ACCEPTED, 'only what was accepted ends later');
  const { endsAfterMs: _, ...effect } = effectOf(behaviour, kind);
  letGo(books, requestId);
  const ending = endingOf(entry, { effect, behaviour, card: cardOf(entry), nowMs: atMs });
  books.entries.end(requestId, ending);
  if (effect.answer === Answer.APPROVED) perform(books, { ...entry, ...ending }, atMs);
}

/** Takes back what is left of a capture, or half of the capture. */
function reverse(books: Books, capture: Entry): number {
  const authorization = books.entries.get(capture.authorizationRequestId);
  const { half, unattributed } = behaviourOf(authorization.behaviour).reversal ?? {};
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

/** An event as it is reported to core; the same at every report. */
export function messageOf(books: Books, event: Event): EventMessage {
  const { eventId, occurredAtMs } = event;
  return { eventId, occurredAt: timestampFromMs(occurredAtMs), event: said(event, books.entries.get(event.requestId)) };
}

function said({ kind, requestId, amount }: Event, entry: Entry): NonNullable<EventMessage['event']> {
  const behaviour = behaviourOf(entry.behaviour);
  switch (kind) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return { case: kind, value: { requestId, result: resultOf(entry) } };
    case 'captureReversed': {
      const about = behaviour.reversal?.unattributed
        ? { authorizationRequestId: entry.authorizationRequestId }
        : { captureRequestId: requestId };
      return { case: kind, value: { ...about, amount: BigInt(amount), reference: `${entry.reference}_rev` } };
    }
    case 'captureReinstated': {
      const reference = `${entry.reference}_rei`;
      const reversalEventId = reversalIdOf(requestId);
      return { case: kind, value: { captureRequestId: requestId, amount: BigInt(amount), reference, reversalEventId } };
    }
    case 'authorizationEnded': {
      const end = behaviour.ended?.as === 'voided' ? AuthorizationEnd.VOIDED : AuthorizationEnd.EXPIRED;
      return { case: kind, value: { requestId, end, amount: BigInt(amount), reference: `${entry.reference}_end` } };
    }
  }
}
