import { notPerformed } from '../../../platform/adapter/ending.ts';
import type { Kind } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { behaviourOf, type Effect, isAble } from '../behaviour.ts';
import type { Entry, Intent } from '../ledger/entry.ts';
import type { Books } from '../ledger/ledger.ts';

/** An operation that was approved. */
type Approved = Pick<Entry, keyof Intent | 'behaviour' | 'expiresAtMs'>;

/** Does what an operation that was approved is for; its entry is written already. Returns what it gave back. */
export function perform(books: Books, operation: Approved, nowMs: number): number {
  return ACTS[operation.kind]?.(books, operation, nowMs) ?? 0;
}

/** Holds back what an accepted operation takes when it ends, so that nothing else takes it meanwhile. */
export function holdBack(books: Books, requestId: string): void {
  const entry = books.entries.get(requestId);
  const from = takesFrom(entry);
  if (!from) return;
  const pending = entry.kind === 'refund' ? entry.amount : takenBy(entry, books.entries.get(from));
  books.entries.add(from, { pending });
  books.entries.add(requestId, { pending });
}

/** Lets go of what `holdBack()` held back. */
export function letGo(books: Books, requestId: string): void {
  const { pending, ...entry } = books.entries.get(requestId);
  const from = takesFrom(entry);
  if (!from || pending === 0) return;
  books.entries.add(from, { pending: -pending });
  books.entries.add(requestId, { pending: -pending });
}

/** Returns what was given back, minor units; undefined = nothing. */
type Act = (books: Books, operation: Approved, nowMs: number) => number | undefined;

const ACTS: { readonly [Name in Kind]?: Act } = {
  authorization: endEarly,
  checkout: endEarly,
  capture: charge,
  void: giveBack,
  increment({ entries }, { authorizationRequestId, amount }): undefined {
    entries.add(authorizationRequestId, { incremented: amount });
  },
  extension({ entries }, { authorizationRequestId, expiresAtMs }): undefined {
    entries.extend(authorizationRequestId, expiresAtMs);
  },
  refund({ entries }, { authorizationRequestId, captureRequestId, amount }): undefined {
    entries.add(authorizationRequestId, { refunded: amount });
    entries.add(captureRequestId, { refunded: amount });
  },
};

function charge(books: Books, capture: Approved, nowMs: number): number {
  const { requestId, authorizationRequestId, amount } = capture;
  const authorization = books.entries.get(authorizationRequestId);
  const voided = takenBy(capture, authorization) - amount;
  books.entries.add(authorizationRequestId, { captured: amount, voided });
  books.entries.add(requestId, { voided });
  const { reversal } = behaviourOf(authorization.behaviour);
  if (!reversal) return voided;
  const { afterMs, reinstatedAfterMs } = reversal;
  const reversedAtMs = { requestId, occurredAtMs: nowMs + afterMs };
  books.events.insert({ eventId: reversalIdOf(requestId), kind: 'captureReversed', ...reversedAtMs });
  if (reinstatedAfterMs === undefined) return voided;
  const reinstatedAtMs = { requestId, occurredAtMs: nowMs + reinstatedAfterMs };
  books.events.insert({ eventId: `reinstatement-${requestId}`, kind: 'captureReinstated', ...reinstatedAtMs });
  return voided;
}

/** The event of a capture's reversal. */
export function reversalIdOf(captureRequestId: string): string {
  return `reversal-${captureRequestId}`;
}

/** A checkout that was closed without a card reserved nothing. */
function giveBack(books: Books, { requestId, authorizationRequestId }: Approved): number {
  const authorization = books.entries.get(authorizationRequestId);
  if (authorization.answer !== Answer.APPROVED) return 0;
  const voided = remainingOf(authorization);
  books.entries.add(authorizationRequestId, { voided });
  books.entries.add(requestId, { voided });
  return voided;
}

function endEarly(books: Books, { requestId, behaviour }: Approved, nowMs: number): undefined {
  const { ended } = behaviourOf(behaviour);
  if (!ended) return;
  const occurredAtMs = nowMs + ended.afterMs;
  books.events.insert({ eventId: `ended-${requestId}`, kind: 'authorizationEnded', requestId, occurredAtMs });
}

/** What a capture or void takes from what remains of its authorization, what it gives back included. */
function takenBy({ kind, amount, finalCapture }: Intent, authorization: Entry): number {
  const closes = finalCapture === 1 || !isAble(authorization.behaviour, 'severalCaptures');
  return kind === 'void' || closes ? remainingOf(authorization) : amount;
}

/**
 * Whose amount an operation takes from: the authorization's, a refund from the capture's; undefined = it takes from
 * none.
 */
function takesFrom(entry: Pick<Entry, 'kind' | 'authorizationRequestId' | 'captureRequestId'>): string | undefined {
  if (entry.kind === 'refund') return entry.captureRequestId;
  return entry.kind === 'capture' || entry.kind === 'void' ? entry.authorizationRequestId : undefined;
}

/** The entry of an authorization or checkout, however it ended; undefined when there is none. */
export function findAuthorization(books: Books, requestId: string): Entry | undefined {
  const entry = books.entries.find(requestId);
  return entry?.kind === 'authorization' || entry?.kind === 'checkout' ? entry : undefined;
}

/** What of it is neither captured nor given back nor held back, minor units. */
export function remainingOf({ amount, incremented, captured, voided, pending }: Entry): number {
  return amount + incremented - captured - voided - pending;
}

/**
 * What of a capture is neither refunded nor taken back nor about to be refunded, minor units. A reversal that names no
 * capture leaves less than that of all captures together.
 */
export function refundableOf(authorization: Entry, capture: Entry): number {
  const ofAll = authorization.captured - authorization.refunded - authorization.reversed;
  return Math.min(capture.amount - capture.refunded - capture.reversed - capture.pending, ofAll);
}

/** Why nothing can be done with an authorization that somebody else ended; undefined = nobody did. */
export function endedElsewhere({ endedAtMs, behaviour }: Entry): Effect | undefined {
  if (endedAtMs === 0) return undefined;
  return behaviourOf(behaviour).ended?.as === 'voided'
    ? notPerformed('authorization_voided', 'The authorization was voided at the processor.')
    : notPerformed('authorization_expired', 'The authorization has ended.');
}
