import type { DatabaseSync } from 'node:sqlite';

/** What happens without a call of core. */
export type EventKind =
  | 'checkoutCompleted'
  | 'operationSettled'
  | 'captureReversed'
  | 'captureReinstated'
  | 'authorizationEnded'
  | 'refundReturned'
  | 'creditReturned';

/** An event to report to core. Its content is read from the entry that it is about. */
export interface Event {
  readonly eventId: string;
  readonly kind: EventKind;
  /** The operation that it is about: checkout, capture, authorization, refund, credit. */
  readonly requestId: string;
  /** Its number among the stages of the operation, from 0; 0 for kinds that happen once. */
  readonly stage: number;
  readonly occurredAtMs: number;
  /** Taken back, reinstated, given back or returned, minor units; 0 before that, and for other kinds. */
  readonly amount: number;
  /** When to report it next. */
  readonly dueAtMs: number;
  /** Reports begun so far. */
  readonly attempts: number;
  /** When core received it; null = not yet. */
  readonly reportedAtMs: number | null;
}

/** An event's identifier begins so; behind it stands the identifier of the operation that it is about. */
const PREFIX: Readonly<Record<EventKind, string>> = {
  checkoutCompleted: 'checkout',
  operationSettled: 'settled',
  captureReversed: 'reversal',
  captureReinstated: 'reinstatement',
  authorizationEnded: 'ended',
  refundReturned: 'returned',
  creditReturned: 'returned',
};

/** The event of a kind about an operation, at a stage. */
export const eventIdOf = (kind: EventKind, requestId: string, stage: number): string =>
  `${PREFIX[kind]}-${requestId}${suffixOf(stage)}`;

/** Marks the stages after the first: -2, -3, … */
export const suffixOf = (stage: number): string => (stage === 0 ? '' : `-${stage + 1}`);

/** The outbox of a database; `onInsert` is called for each new event, before its transaction is committed. */
export function eventTable(database: DatabaseSync, onInsert: () => void) {
  const insert = database.prepare(
    `INSERT INTO event (eventId, kind, requestId, stage, occurredAtMs, dueAtMs, attempts)
     VALUES (:eventId, :kind, :requestId, :stage, :atMs, :atMs, 0)`,
  );
  const due = database.prepare(
    'SELECT * FROM event WHERE reportedAtMs IS NULL AND dueAtMs <= ? ORDER BY dueAtMs LIMIT ?',
  );
  const nextDue = database.prepare('SELECT min(dueAtMs) AS dueAtMs FROM event WHERE reportedAtMs IS NULL');
  const postpone = database.prepare('UPDATE event SET dueAtMs = ?, attempts = ? WHERE eventId = ?');
  const reported = database.prepare(
    'UPDATE event SET reportedAtMs = ? WHERE eventId = ? AND reportedAtMs IS NULL RETURNING *',
  );
  const happened = database.prepare('UPDATE event SET amount = ? WHERE eventId = ?');
  const drop = database.prepare('DELETE FROM event WHERE eventId = ?');
  return {
    /** Schedules what happens to an operation; it is reported then. */
    insert(kind: EventKind, requestId: string, atMs: number, stage = 0): void {
      insert.run({ eventId: eventIdOf(kind, requestId, stage), kind, requestId, stage, atMs });
      onInsert();
    },
    /** Stores its amount. */
    happened: (eventId: string, amount: number) => void happened.run(amount, eventId),
    /** Deletes an event that did not happen. */
    drop: (eventId: string) => void drop.run(eventId),
    /** Unreported events that are due, oldest first. */
    due: (nowMs: number, limit: number) => due.all(nowMs, limit) as unknown as Event[],
    /** When the next unreported event is due; undefined = there is none. */
    nextDueAtMs: () => (nextDue.get() as { dueAtMs: number | null }).dueAtMs ?? undefined,
    postpone: (eventId: string, dueAtMs: number, attempts: number) => void postpone.run(dueAtMs, attempts, eventId),
    /** Stores that core received it, and returns it; undefined when that is stored already. */
    reported: (eventId: string, nowMs: number) => reported.get(nowMs, eventId) as unknown as Event | undefined,
  };
}
