/** The sums of the books: what operations take from them, hold back, and do to them. */
import type { Kind } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { behaviourOf, isAble, stagesOf } from '../behaviour.ts';
import type { Ending, Entry, Intent } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';

/** An operation on a card of some behaviour. */
type Operation = Intent & Pick<Ending, 'behaviour'>;

/** An approved one. */
type Approved = Operation & Pick<Ending, 'expiresAtMs'>;

/**
 * Does what an approved operation is for, and schedules what the issuer or the card scheme does later. Returns what it
 * gave back, minor units.
 */
export function perform(books: Books, operation: Approved, nowMs: number): number {
  return ACTS[operation.kind]?.(books, operation, nowMs) ?? 0;
}

type Act = (books: Books, operation: Approved, nowMs: number) => number | undefined;

const ACTS: { readonly [Name in Kind]?: Act } = {
  authorization: (books, authorization, nowMs) => endLater(books, authorization, 'made', nowMs),
  checkout: (books, checkout, nowMs) => endLater(books, checkout, 'made', nowMs),
  capture(books, capture, nowMs) {
    const { amount } = capture;
    const authorization = books.entries.get(capture.authorizationRequestId);
    const voided = takenBy(books, capture) - amount;
    books.entries.add(authorization.requestId, { captured: amount, voided });
    if (authorization.captured === 0) endLater(books, authorization, 'captured', nowMs);
    schedule(books, capture, 0, nowMs);
    return voided;
  },
  void(books, operation) {
    const voided = takenBy(books, operation);
    books.entries.add(operation.authorizationRequestId, { voided });
    return voided;
  },
  decrease({ entries }, { authorizationRequestId, amount }): undefined {
    entries.add(authorizationRequestId, { voided: amount });
  },
  increment({ entries }, { authorizationRequestId, amount }): undefined {
    entries.add(authorizationRequestId, { incremented: amount });
  },
  extension({ entries }, { authorizationRequestId, expiresAtMs }): undefined {
    entries.extend(authorizationRequestId, expiresAtMs);
  },
  refund(books, refund, nowMs): undefined {
    const { authorizationRequestId, captureRequestId, amount } = refund;
    books.entries.add(authorizationRequestId, { refunded: amount });
    books.entries.add(captureRequestId, { refunded: amount });
    schedule(books, refund, 0, nowMs);
  },
  credit(books, credit, nowMs): undefined {
    schedule(books, credit, 0, nowMs);
  },
};

/** Schedules the end of an authorization by somebody else, if it follows now. */
function endLater(books: Books, authorization: Operation, after: 'made' | 'captured', nowMs: number): undefined {
  const { ended } = behaviourOf(authorization.behaviour);
  if (!ended || after !== (ended.onceCaptured ? 'captured' : 'made')) return;
  books.events.insert('authorizationEnded', authorization.requestId, nowMs + ended.afterMs);
}

/** Schedules a stage of what is done with an operation, if it has that stage. */
export function schedule(books: Books, operation: Operation, stage: number, sinceMs: number): void {
  const { requestId, kind, behaviour } = operation;
  if (kind !== 'capture' && kind !== 'refund' && kind !== 'credit') return;
  const next = stagesOf(behaviour, kind)[stage];
  if (!next) return;
  const event = next.reinstates ? 'captureReinstated' : TAKEN_BACK[kind];
  books.events.insert(event, requestId, sinceMs + next.afterMs, stage);
}

/** The event that something of an operation is taken back. */
const TAKEN_BACK = { capture: 'captureReversed', refund: 'refundReturned', credit: 'creditReturned' } as const;

/** Holds back what an accepted operation takes when it ends, so that nothing else takes it meanwhile. Returns it. */
export function holdBack(books: Books, operation: Operation): number {
  const pending = takenBy(books, operation);
  if (pending > 0) books.entries.add(rowTakenFrom(operation), { pending });
  return pending;
}

/** Lets go of what `holdBack()` held back. */
export function letGo(books: Books, operation: Entry): void {
  const { pending } = operation;
  if (pending > 0) books.entries.add(rowTakenFrom(operation), { pending: -pending });
}

function rowTakenFrom({ kind, authorizationRequestId, captureRequestId }: Operation): string {
  return kind === 'refund' ? captureRequestId : authorizationRequestId;
}

/** What a refund takes from its capture, or another from its authorization, what it gives back included. */
function takenBy(books: Books, { kind, amount, finalCapture, authorizationRequestId, behaviour }: Operation): number {
  if (kind === 'refund' || kind === 'decrease') return amount;
  if (kind !== 'capture' && kind !== 'void') return 0;
  const closes = kind === 'void' || finalCapture === 1 || !isAble(behaviour, 'severalCaptures');
  return closes ? remainingOf(books.entries.get(authorizationRequestId)) : amount;
}

/** What of an authorization is neither captured nor given back nor held back, minor units; 0 unless it was approved. */
export function remainingOf({ answer, amount, incremented, captured, voided, pending }: Entry): number {
  return answer === Answer.APPROVED ? amount + incremented - captured - voided - pending : 0;
}

/**
 * What of a capture is neither refunded nor taken back nor about to be refunded, minor units. A reversal that names no
 * capture leaves less than that of all captures together.
 */
export function refundableOf(authorization: Entry, capture: Entry): number {
  const ofAll = authorization.captured - authorization.refunded - authorization.reversed;
  return Math.min(capture.amount - capture.refunded - capture.reversed - capture.pending, ofAll);
}

/** What the card scheme has not taken back of a capture, minor units: it may take back what was refunded, too. */
export function reversibleOf(authorization: Entry, capture: Entry): number {
  return Math.min(capture.amount - capture.reversed, authorization.captured - authorization.reversed);
}
