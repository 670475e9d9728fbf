import type { SubmissionTable } from '../../domain/kinds.ts';
import { type AtProcessor, isAtProcessor } from '../at-processor.ts';
import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { Submission } from './find-submission.ts';
import { SUBMISSION_TABLES, SUBMISSIONS, unionOfSubmissions } from './submissions.ts';

/** A submission that is to be inquired about. */
export interface DueSubmission
  extends Pick<
    Submission,
    'table' | 'requestId' | 'merchantId' | 'processor' | 'processorAccount' | 'processorRequestId'
  > {
  readonly createdAt: Date;
  /** Inquiries made before this one. */
  readonly inquiryCount: number;
  /** Until when it is normal that it has no result, when the processor has accepted it and said so. */
  readonly expectedBy: Date | null;
}

/** Stores that an outcome is unknown, when to inquire, and until when that is normal (null = it is not). A submission that has ended meanwhile is left as it is. */
export async function markUnknown(
  query: Query,
  table: SubmissionTable,
  requestId: string,
  inquireAt: Date,
  expectedBy: Date | null,
): Promise<void> {
  await query(MARK_UNKNOWN[table], [requestId, inquireAt, expectedBy]);
}

/** Stores when to inquire next, and until when it is normal that there is no result; null = as it was. A submission that is not waiting for an inquiry any more is left as it is. */
export async function postponeInquiry(
  query: Query,
  table: SubmissionTable,
  requestId: string,
  at: Date,
  expectedBy: Date | null,
): Promise<void> {
  await query(POSTPONE[table], [requestId, at, expectedBy]);
}

/** Stores that inquiries ended without an answer. Answers whether it was still open. */
export async function markNeedsReview(query: Query, table: SubmissionTable, requestId: string): Promise<boolean> {
  return (await query(MARK_NEEDS_REVIEW[table], [requestId])).length === 1;
}

/**
 * Takes submissions whose inquiry is due, and puts the next inquiry off to `nextAt`, so that no other process takes them now and a
 * crash of this one loses none. Their calls are over, so the outcome of each that has none is unknown from now on.
 */
export async function takeDueSubmissions(
  query: Query,
  table: SubmissionTable,
  { now, nextAt, limit }: Taking,
  at: AtProcessor,
): Promise<DueSubmission[]> {
  const values = [now, nextAt, limit, at.only, at.butNot];
  return (await query<object>(TAKE_DUE[table], values)).map((row) => taken(table, row));
}

/** Takes open checkouts that have run out, in the same way. */
export async function takeCheckoutsThatRanOut(query: Query, taking: Taking, at: AtProcessor): Promise<DueSubmission[]> {
  const { now, nextAt, limit } = taking;
  const rows = await query<object>(TAKE_CHECKOUTS, [now, nextAt, limit, at.only, at.butNot]);
  return rows.map((row) => taken('hold', row));
}

/** When to look at what is taken now, and at what is left; and how much to take. */
export interface Taking {
  readonly now: Date;
  readonly nextAt: Date;
  readonly limit: number;
}

function taken(table: SubmissionTable, row: object): DueSubmission {
  const due = camelCased<Omit<DueSubmission, 'table'>>(row);
  return { ...due, table, inquiryCount: due.inquiryCount - 1 };
}

const MARK_UNKNOWN = statements(
  'mark-unknown',
  (table, { stateColumn, atWork }) => `update ${table} set ${stateColumn} = 'UNKNOWN', inquire_at = $2, expected_by = $3
    where request_id = $1 and ${stateColumn} in ('${atWork}', 'UNKNOWN')`,
);

const POSTPONE = statements(
  'postpone-inquiry',
  (table) => `update ${table} set inquire_at = $2, expected_by = coalesce($3, expected_by)
    where request_id = $1 and inquire_at is not null`,
);

const MARK_NEEDS_REVIEW = statements(
  'mark-needs-review',
  (table, { stateColumn, reviewable }) => `update ${table} set ${stateColumn} = 'NEEDS_REVIEW', inquire_at = null
    where request_id = $1 and ${stateColumn} in (${reviewable}) returning request_id`,
);

const TAKE_DUE = statements('take-due', (table, { stateColumn, atWork, isTaken }) =>
  taking(
    table,
    isTaken,
    `, ${stateColumn} = case ${stateColumn} when '${atWork}' then 'UNKNOWN' else ${stateColumn} end`,
  ),
);

/** The release that closes a checkout has inquiries of its own. */
const TAKE_CHECKOUTS: Statement = {
  name: 'take-checkouts-that-ran-out',
  text: taking('hold', "s.phase = 'AWAITING_CHECKOUT' and s.checkout_expires_at <= $1 and not s.closing"),
};

function taking(table: SubmissionTable, condition: string, change = ''): string {
  return `update ${table} set inquire_at = $2, inquiry_count = inquiry_count + 1${change}
    where request_id in (select s.request_id from ${table} s
      where s.inquire_at <= $1 and ${condition} and ${isAtProcessor('$4', '$5')}
      order by s.inquire_at limit $3 for update skip locked)
    returning request_id, merchant_id, processor, processor_account, processor_request_id, created_at, inquiry_count, expected_by`;
}

function statements(
  name: string,
  text: (table: SubmissionTable, columns: (typeof SUBMISSIONS)[SubmissionTable]) => string,
): Record<SubmissionTable, Statement> {
  const entries = SUBMISSION_TABLES.map((table) => [
    table,
    { name: `${name}-${table}`, text: text(table, SUBMISSIONS[table]) },
  ]);
  return Object.fromEntries(entries) as Record<SubmissionTable, Statement>;
}

/** Whether something is open that was sent to a processor of one of these stored names: a hold that may yet end, or a submission without a result. */
export async function isAnythingOpenAt(query: Query, processors: readonly string[]): Promise<boolean> {
  const [row] = await query<{ open: boolean }>(IS_ANYTHING_OPEN, [processors]);
  return row?.open ?? false;
}

/** Each part is read by an index over just what is open, whose condition it repeats. */
const IS_ANYTHING_OPEN: Statement = {
  name: 'is-anything-open-at',
  text: `select exists (
      select from hold where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and processor = any ($1::text[])
    union all
      select from hold where phase = 'AWAITING_CHECKOUT' and processor = any ($1::text[])
    union all
    ${unionOfSubmissions(
      (table, { inReview }) => `select from ${table} s where s.inquire_at is not null and s.processor = any ($1::text[])
    union all
      select from ${table} s where ${inReview} and s.processor = any ($1::text[])`,
    )}) as open`,
};
