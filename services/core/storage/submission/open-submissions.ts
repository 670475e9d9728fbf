import type { SentKind } from '../../domain/kinds.ts';
import type { AtProcessor } from '../at-processor.ts';
import { byTurns, type Due, type Search, type Searched, unindexed } from '../by-turns.ts';
import { type Query, type Statement, sql } from '../database.ts';
import { IS_NOT_RECONCILING } from '../reconciling.ts';
import type { Sent } from './find-sent.ts';
import { SENT_TABLES, type SentTable, statementsOfBoth } from './sent-tables.ts';

/** A submission that is to be inquired about. */
export interface DueSubmission extends Pick<Sent, 'kind' | 'requestId' | 'merchantId' | 'processor'> {
  /** Inquiries made before this one. */
  readonly inquiryCount: number;
  /** Until when it is normal that it has no result, when the processor has accepted it and said so. */
  readonly expectedBy: Date | null;
}

/** SQL: the release that closes a checkout has inquiries of its own. */
const HAS_RUN_OUT = `s.phase = 'AWAITING_CHECKOUT' and ${unindexed('s.checkout_expires_at <= $1')}
      and not s.closing`;

/**
 * SQL: what is inquired about. A checkout that has run out is given up instead, and a late void is sent; while the
 * database is being reconciled, the first may be paid, and the other waits. So does a renewal, whose effect depends on
 * what came before it.
 */
const IS_INQUIRED = {
  hold: `not (s.phase = 'AWAITING_CHECKOUT' and s.checkout_expires_at <= $1 and ${IS_NOT_RECONCILING})`,
  submission: `(s.kind not in ('LATE_VOID', 'RENEWAL') or ${IS_NOT_RECONCILING})`,
};

const FIND = { hold: findIn('hold'), submission: findIn('submission') };

function findIn(table: SentTable) {
  return byTurns<FoundSubmission>({
    name: `find-to-inquire-${table}`,
    table,
    index: 's.inquire_at is not null',
    due: 'inquire_at',
    select: `s.request_id, ${SENT_TABLES[table].kind} as kind`,
    where: IS_INQUIRED[table],
    waitsForBooks: false,
  });
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

/** A due submission as it is found. It is read again when it is taken. */
export type FoundSubmission = Due & Pick<DueSubmission, 'requestId' | 'kind'>;

/** Finds submissions whose inquiry is due, about half of `limit` in each of the two tables at most. */
export async function findToInquire(database: Searched, search: Search, at: AtProcessor): Promise<FoundSubmission[]> {
  const half = { ...search, limit: Math.ceil(search.limit / 2) };
  return (await Promise.all([FIND.hold(database, half, at), FIND.submission(database, half, at)])).flat();
}

/** Finds open checkouts that have run out. */
export const findCheckoutsThatRanOut = byTurns<FoundSubmission>({
  name: 'find-checkouts-that-ran-out',
  table: 'hold',
  index: `s.inquire_at is not null and s.phase = 'AWAITING_CHECKOUT'`,
  due: 'inquire_at',
  select: `s.request_id, 'HOLD' as kind`,
  where: HAS_RUN_OUT,
});

/**
 * Takes those of the found submissions whose inquiry is still due, and puts the next one off to `nextAt`, so that no
 * other process takes them now and a crash of this one loses none. Their calls are over, so the outcome of each that
 * has none is unknown from now on.
 */
export async function takeToInquire(query: Query, found: readonly FoundSubmission[], taking: Taking) {
  const isHold = ({ kind }: FoundSubmission) => kind === 'HOLD';
  const taken = await Promise.all([
    take(query, TAKE.hold, found.filter(isHold), taking),
    take(
      query,
      TAKE.submission,
      found.filter((each) => !isHold(each)),
      taking,
    ),
  ]);
  return taken.flat();
}

/** Takes checkouts that have run out, in the same way. */
export function takeCheckouts(query: Query, found: readonly FoundSubmission[], taking: Taking) {
  return take(query, TAKE_CHECKOUTS, found, taking);
}

/** When to look again at the submissions taken now, and at those left. */
export interface Taking {
  readonly now: Date;
  readonly nextAt: Date;
}

async function take(query: Query, statement: Statement, found: readonly FoundSubmission[], { now, nextAt }: Taking) {
  if (found.length === 0) return [];
  return query<DueSubmission>(statement, [now, nextAt, found.map(({ requestId }) => requestId)]);
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

const TAKE = statementsOfBoth('take-due', (table, { stateColumn, atWork }) => {
  const change = `, ${stateColumn} = case ${stateColumn} when '${atWork}' then 'UNKNOWN' else ${stateColumn} end`;
  return taking(table, IS_INQUIRED[table], change);
});

const TAKE_CHECKOUTS = sql(
  'take-checkouts-that-ran-out',
)`${taking('hold', `${HAS_RUN_OUT} and ${IS_NOT_RECONCILING}`)}`;

function taking(table: SentTable, condition: string, change = ''): string {
  const { kind } = SENT_TABLES[table];
  return `update ${table} s set inquire_at = $2, inquiry_count = inquiry_count + 1${change}
    where request_id in (select s.request_id from ${table} s
      where s.request_id = any ($3::uuid[]) and s.inquire_at <= $1 and ${condition} for update skip locked)
    returning ${kind} as kind, request_id, merchant_id, processor, inquiry_count - 1 as inquiry_count, expected_by`;
}

function tableOf(kind: SentKind): SentTable {
  return kind === 'HOLD' ? 'hold' : 'submission';
}
