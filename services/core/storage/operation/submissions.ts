import type { AskedKind, SubmissionTable } from '../../domain/kinds.ts';

/** How a table of submissions says what all of them have. What is called SQL is an expression over its row `s`. */
interface Submissions {
  /** Which idempotency keys belong to it. */
  readonly keyMethod: string;
  /** The column that says where a row stands, and its value while the processor is being asked. */
  readonly stateColumn: 'state' | 'phase';
  readonly atWork: string;
  /** SQL: its values from which it may come to needs review. */
  readonly reviewable: string;
  /** SQL: whether recovery inquires about a row that is due; $1 is now. */
  readonly isTaken: string;
  /** SQL: the SubmissionState. */
  readonly state: string;
  /** SQL: the AskedKind of its operation. */
  readonly kind: string;
  /** SQL: the hold that it belongs to; null for what is a hold itself, or has none. */
  readonly holdRequestId: string;
  /** SQL: whether it makes no operation: it gives back an authorization that arrived after its hold had failed. */
  readonly lateVoid: string;
  /** SQL: whether an operator may have to look at it, as the table's index has it, and why. */
  readonly inReview: string;
  readonly reviewReason: string;
  /** What an open row keeps back of its hold: SQL over the hold `h`, too. Null = nothing. */
  readonly reserves: {
    /** Which open rows do. */
    readonly when: string;
    /** Whether nothing else may be captured until it has its result. */
    readonly closes: string;
  } | null;
  /** The results of what was asked that must be in the operation log: selects of kind, subject, status, amount (null = any), merchant_id, hold_request_id. */
  readonly results: readonly string[];
  /** The EntryKind of the processor's books; SQL: whether amount and result are compared, and the amount that must be there. */
  readonly entry: string;
  readonly isEntryCompared: string;
  readonly entryAmount: string;
}

const IN_STATE = {
  stateColumn: 'state',
  atWork: 'PENDING',
  reviewable: `'PENDING', 'UNKNOWN'`,
  isTaken: 'true',
  state: 's.state',
  lateVoid: 'false',
  inReview: `s.state in ('UNKNOWN', 'NEEDS_REVIEW')`,
  reviewReason: 's.state',
  isEntryCompared: 'true',
  entryAmount: 's.amount',
} as const;

const HOLD_STATE = `case s.phase when 'AUTHORIZED' then 'OK' when 'FAILED' then 'KO' when 'UNKNOWN' then 'UNKNOWN'
    when 'NEEDS_REVIEW' then 'NEEDS_REVIEW' else 'PENDING' end`;

const RELEASE_KIND = `case s.reason when 'EXPIRED' then 'EXPIRY' else 'RELEASE' end`;

/**
 * The tables of submissions. Statements about all of them (inquiries, reviews, backlog, overview, audit, known identifiers) are made
 * from this record, in its order. What a table's own statements do stands beside its entity.
 */
export const SUBMISSIONS = {
  hold: {
    keyMethod: 'CREATE_PREAUTHORIZATION',
    stateColumn: 'phase',
    atWork: 'AUTHORIZING',
    reviewable: `'AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN'`,
    // A checkout that has run out is given up instead.
    isTaken: "not (s.phase = 'AWAITING_CHECKOUT' and s.checkout_expires_at <= $1)",
    state: HOLD_STATE,
    kind: `'HOLD'`,
    holdRequestId: 'null::uuid',
    lateVoid: 'false',
    inReview: `(s.frozen or s.phase in ('UNKNOWN', 'NEEDS_REVIEW'))`,
    reviewReason: `case when s.phase in ('UNKNOWN', 'NEEDS_REVIEW') then s.phase else 'FROZEN' end`,
    reserves: null,
    results: [finalResults('HOLD', 'hold', HOLD_STATE, 'null::uuid')],
    entry: 'AUTHORIZATION',
    isEntryCompared: 'true',
    entryAmount: 's.amount',
  },
  capture: {
    ...IN_STATE,
    keyMethod: 'CAPTURE',
    kind: `'CAPTURE'`,
    holdRequestId: 's.hold_request_id',
    reserves: { when: 'true', closes: 's.final_capture or not h.allow_multiple_captures' },
    results: [finalResults('CAPTURE', 'capture', 's.state', 's.hold_request_id')],
    entry: 'CAPTURE',
  },
  release: {
    ...IN_STATE,
    keyMethod: 'RELEASE',
    kind: RELEASE_KIND,
    holdRequestId: 's.hold_request_id',
    lateVoid: `s.reason = 'LATE'`,
    reserves: { when: `s.reason <> 'LATE'`, closes: 'true' },
    // What gives up a checkout is the hold's own result; an expiry that is tried again has none.
    results: [
      `select ${RELEASE_KIND}, s.request_id, case when s.state = 'OK' and s.reason = 'RELEASED' then 'OK' else 'KO' end,
        coalesce(s.amount_released, nullif(s.amount, 0)), s.merchant_id, s.hold_request_id
      from release s join hold h on h.request_id = s.hold_request_id
      where (s.state = 'OK' and s.reason <> 'LATE' and h.phase = 'AUTHORIZED') or (s.state = 'KO' and s.reason = 'RELEASED')`,
    ],
    entry: 'VOID',
    // Only the processor knows what there was to give back.
    isEntryCompared: 's.amount_released is not null and not s.reported',
    entryAmount: 's.amount_released',
  },
  oct: {
    ...IN_STATE,
    keyMethod: 'CREATE_OCT',
    kind: `'OCT'`,
    holdRequestId: 'null::uuid',
    reserves: null,
    results: [finalResults('OCT', 'oct', 's.state', 'null::uuid')],
    entry: 'CREDIT',
  },
} as const satisfies Record<SubmissionTable, Submissions>;

/** All of them, in the record's order. */
export const SUBMISSION_TABLES = Object.keys(SUBMISSIONS) as SubmissionTable[];

/** SQL of a condition over a row `s`: the processor has accepted it, and by `now` it need not have a result yet. */
export function isExpected(now: string): string {
  return `coalesce(s.expected_by > ${now}, false)`;
}

/** SQL: a select for each table, joined by `union all`. */
export function unionOfSubmissions(select: (table: SubmissionTable, sql: Submissions) => string): string {
  return SUBMISSION_TABLES.map((table) => select(table, SUBMISSIONS[table])).join('\n    union all ');
}

function finalResults(kind: AskedKind, table: SubmissionTable, state: string, holdRequestId: string): string {
  return `select '${kind}' as kind, s.request_id as subject, ${state} as status, s.amount, s.merchant_id, ${holdRequestId} as hold_request_id
      from ${table} s where ${state} in ('OK', 'KO')`;
}
