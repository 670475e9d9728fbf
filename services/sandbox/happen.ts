import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { EventMessage } from '../../platform/adapter/event-reporter.ts';
import { AuthorizationEnd } from '../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { behaviourOf, effectOf, type Staged, stagesOf } from './behaviour.ts';
import type { Entry } from './ledger/entry.ts';
import { type Event, type EventKind, eventIdOf, suffixOf } from './ledger/event.ts';
import type { Books } from './ledger/ledger.ts';
import { carryOut, resultOf } from './rpc/outcome.ts';
import { letGo, remainingOf, reversibleOf, schedule } from './rpc/perform.ts';

/**
 * Carries out an event that is due: books what the card scheme or the issuer does. Returns the event to report;
 * undefined when nothing was left that it could apply to. Then the event is deleted.
 */
export function happen(books: Books, event: Event): Event | undefined {
  const { eventId, kind, requestId } = event;
  const amount = HAPPENINGS[kind](books, books.entries.get(requestId), event);
  if (amount === undefined) return event;
  if (amount > 0) books.events.happened(eventId, amount);
  else books.events.drop(eventId);
  return amount > 0 ? { ...event, amount } : undefined;
}

/** Schedules the stage after one that core has received, so that core hears of them in order. */
export function scheduleNext(books: Books, { kind, requestId, stage }: Event, nowMs: number): void {
  // The first stage of an accepted operation was scheduled when it ended.
  if (kind === 'operationSettled') return;
  schedule(books, books.entries.get(requestId), stage + 1, nowMs);
}

/** Each returns the amount of the event, minor units; undefined when the event has none. */
const HAPPENINGS: Readonly<Record<EventKind, (books: Books, entry: Entry, event: Event) => number | undefined>> = {
  checkoutCompleted: () => undefined,

  /** What waited for its customer has ended there. */
  operationSettled(books, entry, { occurredAtMs }): undefined {
    if (entry.answer !== Answer.ACCEPTED) return;
    const { endsAfterMs: _, ...effect } = effectOf(entry.behaviour, entry.kind, entry.renews);
    letGo(books, entry);
    books.entries.end(entry.requestId, carryOut(books, entry, { effect, card: entry, nowMs: occurredAtMs }));
    const authorization = books.entries.find(entry.authorizationRequestId);
    if (authorization && authorization.endedAtMs > 0) giveRestBack(books, authorization);
  },

  captureReversed(books, capture, { stage }) {
    const authorization = books.entries.get(capture.authorizationRequestId);
    const reversed = takenBack(capture, 'capture', stage, reversibleOf(authorization, capture));
    books.entries.add(authorization.requestId, { reversed });
    if (!behaviourOf(capture.behaviour).unattributed) books.entries.add(capture.requestId, { reversed });
    return reversed;
  },

  /** Gives again what was taken back. */
  captureReinstated(books, { requestId, authorizationRequestId, reversed }) {
    books.entries.add(authorizationRequestId, { reversed: -reversed });
    books.entries.add(requestId, { reversed: -reversed });
    return reversed;
  },

  refundReturned(books, refund, { stage }) {
    const { requestId, authorizationRequestId, captureRequestId, amount } = refund;
    const returned = takenBack(refund, 'refund', stage, amount - refund.returned);
    books.entries.add(requestId, { returned });
    books.entries.add(authorizationRequestId, { refunded: -returned });
    books.entries.add(captureRequestId, { refunded: -returned });
    return returned;
  },

  creditReturned(books, credit, { stage }) {
    const returned = takenBack(credit, 'credit', stage, credit.amount - credit.returned);
    books.entries.add(credit.requestId, { returned });
    return returned;
  },

  /** Ends an authorization of which something is left. What an accepted operation has reserved stays so until its end. */
  authorizationEnded(books, authorization, { occurredAtMs }) {
    const voided = giveRestBack(books, authorization);
    if (voided > 0) books.entries.endEarly(authorization.requestId, occurredAtMs);
    return voided;
  },
};

/** Gives back what is left of an authorization that has ended. Returns it. */
function giveRestBack(books: Books, authorization: Entry): number {
  const voided = remainingOf(authorization);
  if (voided > 0) books.entries.add(authorization.requestId, { voided });
  return voided;
}

/** What a stage takes back of an operation, minor units: all that is left, or half of the operation. */
function takenBack({ amount, behaviour }: Entry, kind: Staged, stage: number, left: number): number {
  const isHalf = stagesOf(behaviour, kind)[stage]?.half;
  return isHalf ? Math.min(left, Math.max(1, Math.floor(amount / 2))) : left;
}

/** An event as it is reported to core; the same at every report. */
export function messageOf(books: Books, event: Event): EventMessage {
  const { eventId, occurredAtMs, requestId } = event;
  return { eventId, occurredAt: timestampFromMs(occurredAtMs), event: said(event, books.entries.get(requestId)) };
}

function said(event: Event, entry: Entry): NonNullable<EventMessage['event']> {
  const { kind, requestId, stage } = event;
  const { unattributed, ended } = behaviourOf(entry.behaviour);
  const amount = BigInt(event.amount);
  const referenceOf = (what: string) => `${entry.reference}_${what}${suffixOf(stage)}`;
  switch (kind) {
    case 'checkoutCompleted':
    case 'operationSettled':
      return { case: kind, value: { requestId, result: resultOf(entry) } };
    case 'captureReversed': {
      const { authorizationRequestId } = entry;
      const about = unattributed ? { authorizationRequestId } : { captureRequestId: requestId };
      return { case: kind, value: { ...about, amount, reference: referenceOf('rev') } };
    }
    case 'captureReinstated': {
      const reversalEventId = eventIdOf('captureReversed', requestId, stage - 1);
      return {
        case: kind,
        value: { captureRequestId: requestId, amount, reference: referenceOf('rei'), reversalEventId },
      };
    }
    case 'refundReturned':
      return { case: kind, value: { refundRequestId: requestId, amount, reference: referenceOf('ret') } };
    case 'creditReturned':
      return { case: kind, value: { creditRequestId: requestId, amount, reference: referenceOf('ret') } };
    case 'authorizationEnded': {
      const end = ended?.as === 'voided' ? AuthorizationEnd.VOIDED : AuthorizationEnd.EXPIRED;
      return { case: kind, value: { requestId, end, amount, reference: referenceOf('end') } };
    }
  }
}
