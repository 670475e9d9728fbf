/**
 * The books of a ledger: the sums of its authorizations and captures, and the events for core about what changed them.
 * All of it happens in the transaction of what is booked.
 */
import type { AuthorizationEnd } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { ResultInit } from '../entry.ts';
import type { Query } from './database.ts';
import { doneOf, type Intent, type State } from './entries.ts';
import { FOREIGN_CAPTURE, tell } from './outbox.ts';

const SUMS = ['captured', 'voided', 'incremented', 'refunded', 'reversed', 'returned'] as const;

const ADD = `UPDATE entry SET ${SUMS.map((sum, index) => `${sum} = ${sum} + $${index + 2}`).join(', ')},
    ended_at = coalesce($8, ended_at), ended_how = coalesce($9, ended_how)
  WHERE request_id = $1`;

/** How sums move, minor units; and when and how (AuthorizationEnd) somebody else ended an authorization. */
type Change = Partial<Record<(typeof SUMS)[number], bigint>> & { endedAt?: Date; endedHow?: AuthorizationEnd };

async function add(query: Query, requestId: string | null, change: Change): Promise<void> {
  if (requestId === null) return;
  const sums = SUMS.map((sum) => change[sum] ?? 0n);
  await query(ADD, [requestId, ...sums, change.endedAt ?? null, change.endedHow ?? null]);
}

/** Adds to a sum of a capture, and of its authorization. */
async function addToBoth(
  query: Query,
  about: Pick<Intent, 'authorizationRequestId' | 'captureRequestId'>,
  change: Change,
) {
  await add(query, about.authorizationRequestId, change);
  await add(query, about.captureRequestId, change);
}

/** Books what an approved operation did to its authorization, and a refund to its capture. */
export async function book(query: Query, entry: Intent & State): Promise<void> {
  const { kind, answer, released, authorizationRequestId } = entry;
  if (answer !== Answer.APPROVED) return;
  const amount = doneOf(entry);
  if (kind === 'capture') await add(query, authorizationRequestId, { captured: amount, voided: released });
  if (kind === 'void') await add(query, authorizationRequestId, { voided: released });
  if (kind === 'decrease') await add(query, authorizationRequestId, { voided: amount });
  if (kind === 'increment') await add(query, authorizationRequestId, { incremented: amount });
  if (kind === 'refund') await addToBoth(query, entry, { refunded: amount });
}

/** What came back of an approved refund or credit. */
interface Return {
  /** The processor's reference of the return; the same one is booked once. */
  readonly reference: string;
  /** Minor units; undefined = all that is left of it. */
  readonly amount?: bigint | undefined;
  readonly at: Date;
}

/**
 * Books that a refund or credit, or a part of it, came back, and reports it; never more than is left of it. Its answer
 * stays. The entry is locked by the caller, who makes sure that a reference is booked once.
 */
export async function bookReturn(
  query: Query,
  entry: Intent & State,
  { reference, amount, at }: Return,
): Promise<void> {
  const { requestId, kind } = entry;
  const left = entry.amount - entry.returned;
  const back = amount === undefined || amount > left ? left : amount;
  if (back <= 0n) return;
  await add(query, requestId, { returned: back });
  if (kind === 'refund') await addToBoth(query, entry, { refunded: -back });
  const said = { amount: back, reference };
  const event =
    kind === 'refund'
      ? ({ case: 'refundReturned', value: { refundRequestId: requestId, ...said } } as const)
      : ({ case: 'creditReturned', value: { creditRequestId: requestId, ...said } } as const);
  // The sum tells the returns of one entry apart. At most 62 of the contract's 64 characters.
  const eventId = `returned-${requestId}-${(entry.returned + back).toString(36)}`;
  await tell(query, { eventId, requestId, occurredAt: at, event });
}

/** How somebody else ended an authorization. */
interface End {
  readonly how: AuthorizationEnd;
  readonly at: Date;
  /** What was left then, minor units. */
  readonly left: bigint;
  /** Whether that is booked already, as given back by a capture. */
  readonly isBooked?: boolean;
  readonly reference: string;
}

/** Books that somebody else ended an authorization, and reports it. */
export async function bookEnd(query: Query, requestId: string, end: End): Promise<void> {
  const { how, at, left, isBooked = false, reference } = end;
  await add(query, requestId, { voided: isBooked ? 0n : left, endedAt: at, endedHow: how });
  const event = { case: 'authorizationEnded', value: { requestId, end: how, amount: left, reference } } as const;
  await tell(query, { eventId: `ended-${requestId}`, requestId, occurredAt: at, event });
}

/** Reports a capture by somebody else, which is in the ledger under an identifier of its own. */
export async function tellForeignCapture(query: Query, capture: Intent & State, occurredAt: Date): Promise<void> {
  const { requestId: captureRequestId, amount, reference } = capture;
  const requestId = capture.authorizationRequestId ?? '';
  const value = { authorizationRequestId: requestId, captureRequestId, amount, reference };
  const event = { case: 'foreignCapture', value } as const;
  await tell(query, { eventId: `${FOREIGN_CAPTURE}${captureRequestId}`, requestId, occurredAt, event });
}

/**
 * Reports how an operation ended. A second, contradicting end is another event; so is the same end that a restored
 * ledger finds anew, because it says another time.
 */
export async function tellEnd(query: Query, entry: Intent & State, result: ResultInit): Promise<void> {
  const { requestId, kind, answer, actedAt } = entry;
  if (answer === Answer.ACCEPTED) return;
  const name = kind === 'checkout' ? ('checkoutCompleted' as const) : ('operationSettled' as const);
  const event = { case: name, value: { requestId, result } };
  const occurredAt = actedAt ?? new Date(0);
  // At most 63 of the contract's 64 characters.
  const eventId = `${kind}-${requestId}-${answer}-${Math.floor(occurredAt.getTime() / 1000)}`;
  await tell(query, { eventId, requestId, occurredAt, event });
}

/** Money that left a capture otherwise than by a refund of core's: a dispute, or a refund made at the processor. */
export interface Reversal {
  /** The processor's reference of the dispute or refund. */
  readonly reversalId: string;
  readonly authorizationRequestId: string;
  /** Null when it is not known which capture it took back. */
  readonly captureRequestId: string | null;
  /** Minor units. */
  readonly amount: bigint;
  /** Odd: taken; even: given again. */
  readonly turn: number;
}

/** The reversals of an authorization. */
export function reversalsOf(query: Query, authorizationRequestId: string): Promise<Reversal[]> {
  const text = `SELECT reversal_id AS "reversalId", authorization_request_id AS "authorizationRequestId",
      capture_request_id AS "captureRequestId", amount, turn
    FROM reversal WHERE authorization_request_id = $1`;
  return query<Reversal>(text, [authorizationRequestId]);
}

/** The authorization that a reversal is about. */
export async function reversedBy(query: Query, reversalId: string): Promise<string | undefined> {
  const text = 'SELECT authorization_request_id AS "requestId" FROM reversal WHERE reversal_id = $1';
  return (await query<{ requestId: string }>(text, [reversalId]))[0]?.requestId;
}

/** What was taken: under its reference, and `amount` undefined = all that is left. */
interface Taken extends Pick<Reversal, 'reversalId'> {
  readonly amount?: bigint | undefined;
  /** The turn before, when it was taken and given again. */
  readonly before?: Reversal | undefined;
}

/**
 * The turn that takes an amount: from the capture when there is only one, else it is not known from which. What was
 * refunded may be taken, too, so only what was taken before is left out; undefined when nothing is left to take.
 */
export function takingTurn(
  authorization: Pick<Intent & State, 'requestId' | 'captured' | 'reversed'>,
  entries: readonly (Intent & State)[],
  { reversalId, amount, before }: Taken,
): Reversal | undefined {
  const captures = entries.filter(({ kind, answer }) => kind === 'capture' && answer === Answer.APPROVED);
  const only = captures.length === 1 ? captures[0] : undefined;
  const capture = before ? captures.find(({ requestId }) => requestId === before.captureRequestId) : only;
  const { requestId: authorizationRequestId, captured, reversed } = authorization;
  const leftOfAll = captured - reversed;
  const leftOfOne = capture && doneOf(capture) - capture.reversed;
  // What was taken from no capture in particular is missing in the sum of all only.
  const left = leftOfOne === undefined || leftOfOne > leftOfAll ? leftOfAll : leftOfOne;
  const taken = amount === undefined || amount > left ? left : amount;
  if (taken <= 0n) return undefined;
  const captureRequestId = capture?.requestId ?? null;
  return { reversalId, authorizationRequestId, captureRequestId, amount: taken, turn: (before?.turn ?? 0) + 1 };
}

/** Books a turn of a reversal, and reports it. */
export async function bookTurn(query: Query, reversal: Reversal, occurredAt: Date): Promise<void> {
  const { reversalId: reference, authorizationRequestId, captureRequestId, amount, turn } = reversal;
  const text = `INSERT INTO reversal (reversal_id, authorization_request_id, capture_request_id, amount, turn)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (reversal_id) DO UPDATE SET turn = excluded.turn, amount = excluded.amount`;
  await query(text, [reference, authorizationRequestId, captureRequestId, amount, turn]);
  const isTaken = turn % 2 === 1;
  await addToBoth(query, reversal, { reversed: isTaken ? amount : -amount });
  const about = captureRequestId === null ? { authorizationRequestId } : { captureRequestId };
  const value = { ...about, amount, reference };
  const event = isTaken
    ? ({ case: 'captureReversed', value } as const)
    : ({ case: 'captureReinstated', value: { ...value, reversalEventId: `${reference}-${turn - 1}` } } as const);
  await tell(query, { eventId: `${reference}-${turn}`, requestId: authorizationRequestId, occurredAt, event });
}
