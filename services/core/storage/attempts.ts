import type { Query, Statement } from './database.ts';

/** The tables that hold attempts whose outcome may be open. */
export type AttemptTable = 'hold' | 'capture' | 'release' | 'oct';
export const ATTEMPT_TABLES: readonly AttemptTable[] = ['hold', 'capture', 'release', 'oct'];

/** An attempt that is to be inquired about. */
export interface DueAttempt {
  readonly table: AttemptTable;
  readonly requestId: string;
  /** Inquiries made before this one. */
  readonly inquiryCount: number;
}

/** Stores that an outcome is unknown and when to inquire. An attempt that has ended meanwhile is left as it is. */
export async function markUnknown(
  query: Query,
  table: AttemptTable,
  requestId: string,
  inquireAt: Date,
): Promise<void> {
  await query(MARK_UNKNOWN[table], [requestId, inquireAt]);
}

/** Stores when to inquire next. An attempt that is not waiting for an inquiry any more is left as it is. */
export async function postponeInquiry(query: Query, table: AttemptTable, requestId: string, at: Date): Promise<void> {
  await query(POSTPONE[table], [requestId, at]);
}

/** Stores that inquiries ended without an answer. Answers whether it was still open. */
export async function markNeedsReview(query: Query, table: AttemptTable, requestId: string): Promise<boolean> {
  return (await query(MARK_NEEDS_REVIEW[table], [requestId])).length === 1;
}

/**
 * Takes attempts whose inquiry is due, and puts the next inquiry off to `nextAt`, so that no other process takes them now and a
 * crash of this one loses none.
 */
export async function takeDueAttempts(
  query: Query,
  table: AttemptTable,
  now: Date,
  nextAt: Date,
  limit: number,
): Promise<DueAttempt[]> {
  const rows = await query<{ request_id: string; inquiry_count: number }>(TAKE_DUE[table], [now, nextAt, limit]);
  return rows.map((row) => ({ table, requestId: row.request_id, inquiryCount: row.inquiry_count - 1 }));
}

/** Where each table says how its attempts stand. */
export const STATE_COLUMN = { hold: 'phase', capture: 'state', release: 'state', oct: 'state' } as const;
const AT_WORK = { hold: 'AUTHORIZING', capture: 'PENDING', release: 'PENDING', oct: 'PENDING' } as const;

const MARK_UNKNOWN = statements(
  'mark-unknown',
  (table) => `update ${table} set ${STATE_COLUMN[table]} = 'UNKNOWN', inquire_at = $2
    where request_id = $1 and ${STATE_COLUMN[table]} = '${AT_WORK[table]}'`,
);

const POSTPONE = statements(
  'postpone-inquiry',
  (table) => `update ${table} set inquire_at = $2 where request_id = $1 and inquire_at is not null`,
);

const MARK_NEEDS_REVIEW = statements(
  'mark-needs-review',
  (table) => `update ${table} set ${STATE_COLUMN[table]} = 'NEEDS_REVIEW', inquire_at = null
    where request_id = $1 and ${STATE_COLUMN[table]} in ('${AT_WORK[table]}', 'UNKNOWN') returning request_id`,
);

const TAKE_DUE = statements(
  'take-due',
  (table) => `update ${table} set inquire_at = $2, inquiry_count = inquiry_count + 1
    where request_id in (select request_id from ${table} where inquire_at <= $1 order by inquire_at limit $3
      for update skip locked)
    returning request_id, inquiry_count`,
);

function statements(name: string, text: (table: AttemptTable) => string): Record<AttemptTable, Statement> {
  const entries = ATTEMPT_TABLES.map((table) => [table, { name: `${name}-${table}`, text: text(table) }]);
  return Object.fromEntries(entries) as Record<AttemptTable, Statement>;
}
