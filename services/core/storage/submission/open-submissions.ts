import type { SentKind } from '../../domain/kinds.ts';
import { type AtProcessor, isAtProcessor } from '../at-processor.ts';
import { type Query, sql } from '../database.ts';
import { IS_NOT_RECONCILING } from '../reconciling.ts';
import type { Sent } from './find-sent.ts';
import { SENT_TABLES, type SentTable, statementsOfBoth } from './sent-tables.ts';

/** A submission that is to be inquired about. */
export interface DueSubmission extends Pick<Sent, 'kind' | 'requestId' | 'processor'> {
  /** Inquiries made before this one. */
  readonly inquiryCount: number;
  /** Until when it is normal that it has no result, when the processor has accepted it and said so. */
  readonly expectedBy: Date | null;
}

/**
 * Stores that an outcome is unknown, when to inquire, and until when that is normal (undefined = it is not). A
 * submission that has ended meanwhile is left as it is.
 */
export async function markUnknown(
  query: Query,
  kind: SentKind,
  requestId: string,
  inquireAt: Date,
  expectedBy: Date | undefined,
): Promise<void> {
  await query(MARK_UNKNOWN[tableOf(kind)], [requestId, inquireAt, expectedBy]);
}

/**
 * Stores when to inquire next, and until when it is normal that there is no result; absent = as it was. A submission
 * that is not waiting for an inquiry any more is left as it is.
 */
export async function postponeInquiry(
  query: Query,
  kind: SentKind,
  requestId: string,
  at: Date,
  expectedBy?: Date,
): Promise<void> {
  await query(POSTPONE[tableOf(kind)], [requestId, at, expectedBy]);
}

/** Stores that inquiries ended without an answer. Answers whether it was still open. */
export async function markNeedsReview(query: Query, kind: SentKind, requestId: string): Promise<boolean> {
  return (await query(MARK_NEEDS_REVIEW[tableOf(kind)], [requestId])).length === 1;
}

/**
 * Takes submissions whose inquiry is due, and puts the next inquiry off to `nextAt`, so that no other process takes
 * them now and a crash of this one loses none. Their calls are over, so the outcome of each that has none is unknown
 * from now on.
 */
export function takeDueSubmissions(
  query: Query,
  table: SentTable,
  { now, nextAt, limit }: Taking,
  at: AtProcessor,
): Promise<DueSubmission[]> {
  return query<DueSubmission>(TAKE_DUE[table], [now, nextAt, limit, at.only, at.butNot]);
}

/** Takes open checkouts that have run out, in the same way; none while the database is being reconciled. */
export function takeCheckoutsThatRanOut(query: Query, taking: Taking, at: AtProcessor): Promise<DueSubmission[]> {
  const { now, nextAt, limit } = taking;
  return query<DueSubmission>(TAKE_CHECKOUTS, [now, nextAt, limit, at.only, at.butNot]);
}

/** When to look at what is taken now, and at what is left; and how much to take. */
export interface Taking {
  readonly now: Date;
  readonly nextAt: Date;
  readonly limit: number;
}

const MARK_UNKNOWN = statementsOfBoth(
  'mark-unknown',
  (table, { stateColumn, atWork }) => `update ${table} set ${stateColumn} = 'UNKNOWN', inquire_at = $2, expected_by = $3
    where request_id = $1 and ${stateColumn} in ('${atWork}', 'UNKNOWN')`,
);

const POSTPONE = statementsOfBoth(
  'postpone-inquiry',
  (table) => `update ${table} set inquire_at = $2, expected_by = coalesce($3, expected_by)
    where request_id = $1 and inquire_at is not null`,
);

const MARK_NEEDS_REVIEW = statementsOfBoth(
  'mark-needs-review',
  (table, { stateColumn, reviewable }) => `update ${table} s set ${stateColumn} = 'NEEDS_REVIEW', inquire_at = null
    where request_id = $1 and ${reviewable} returning request_id`,
);

const TAKE_DUE = statementsOfBoth('take-due', (table, { stateColumn, atWork, isTaken }) => {
  const change = `, ${stateColumn} = case ${stateColumn} when '${atWork}' then 'UNKNOWN' else ${stateColumn} end`;
  return taking(table, isTaken, change);
});

/** The release that closes a checkout has inquiries of its own. */
const TAKE_CHECKOUTS = sql('take-checkouts-that-ran-out')`${taking(
  'hold',
  `s.phase = 'AWAITING_CHECKOUT' and s.checkout_expires_at <= $1 and not s.closing and ${IS_NOT_RECONCILING}`,
)}`;

function taking(table: SentTable, condition: string, change = ''): string {
  const { kind } = SENT_TABLES[table];
  return `update ${table} s set inquire_at = $2, inquiry_count = inquiry_count + 1${change}
    where request_id in (select s.request_id from ${table} s
      where s.inquire_at <= $1 and ${condition} and ${isAtProcessor('$4', '$5')}
      order by s.inquire_at limit $3 for update skip locked)
    returning ${kind} as kind, request_id, processor, inquiry_count - 1 as inquiry_count, expected_by`;
}

function tableOf(kind: SentKind): SentTable {
  return kind === 'HOLD' ? 'hold' : 'submission';
}
