import type { DatabaseSync } from 'node:sqlite';

/** Something that core must hear of. What it says stands in the entry it is about. */
export interface Event {
  readonly eventId: string;
  readonly kind: 'checkoutCompleted' | 'captureReversed';
  /** The checkout, or the capture. */
  readonly requestId: string;
  readonly occurredAtMs: number;
  /** When it is to be reported, next. */
  readonly dueAtMs: number;
  /** Reports begun so far. */
  readonly attempts: number;
  /** When core had it; null = not yet. */
  readonly reportedAtMs: number | null;
}

/** The outbox of a database. */
export function eventTable(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO event (eventId, kind, requestId, occurredAtMs, dueAtMs, attempts, reportedAtMs)
     VALUES (:eventId, :kind, :requestId, :occurredAtMs, :occurredAtMs, 0, NULL)`,
  );
  const due = database.prepare(
    'SELECT * FROM event WHERE reportedAtMs IS NULL AND dueAtMs <= ? ORDER BY dueAtMs LIMIT ?',
  );
  const nextDue = database.prepare('SELECT min(dueAtMs) AS dueAtMs FROM event WHERE reportedAtMs IS NULL');
  const postpone = database.prepare('UPDATE event SET dueAtMs = ?, attempts = ? WHERE eventId = ?');
  const reported = database.prepare('UPDATE event SET reportedAtMs = ? WHERE eventId = ?');
  const list = database.prepare('SELECT * FROM event ORDER BY rowid');
  return {
    insert(event: Pick<Event, 'eventId' | 'kind' | 'requestId' | 'occurredAtMs'>): void {
      insert.run({ ...event });
    },
    /** Unreported events that are due, the longest due first. */
    due: (nowMs: number, limit: number) => due.all(nowMs, limit) as unknown as Event[],
    /** When the next unreported event is due; undefined = there is none. */
    nextDueAtMs: () => (nextDue.get() as { dueAtMs: number | null }).dueAtMs ?? undefined,
    postpone: (eventId: string, dueAtMs: number, attempts: number) => void postpone.run(dueAtMs, attempts, eventId),
    reported: (eventId: string, nowMs: number) => void reported.run(nowMs, eventId),
    list: () => list.all() as unknown as Event[],
  };
}
