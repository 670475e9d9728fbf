import { SUBMISSION_KINDS } from '../../domain/kinds.ts';
import type { Statement } from '../database.ts';

/** The two tables of operations sent to a processor, for statements about both. */

export type SentTable = 'hold' | 'submission';

/** How each table expresses the common fields. SQL means an expression over its row `s`. */
interface SentColumns {
  /** The column that says where a row stands, and its value while the processor is being asked. */
  readonly stateColumn: 'state' | 'phase';
  readonly atWork: string;
  /** SQL: whether a row may come to needs review. */
  readonly reviewable: string;
  /** SQL: the SubmissionState. */
  readonly state: string;
  /** SQL: the SentKind. */
  readonly kind: string;
  /** SQL: the EntryKind of the processor's books. */
  readonly entry: string;
  /** SQL: what its merchant said of the operation, besides its reference. */
  readonly metadata: string;
  readonly reason: string;
  /** SQL: its hold; null for a hold itself, and for submissions without one. */
  readonly holdRequestId: string;
  /** SQL: the RENEWAL whose authorization it is on; null = the placing of its hold. */
  readonly authorizationId: string;
}

const HOLD_STATE = `case s.phase when 'AUTHORIZED' then 'OK' when 'FAILED' then 'KO' when 'UNKNOWN' then 'UNKNOWN'
    when 'NEEDS_REVIEW' then 'NEEDS_REVIEW' else 'PENDING' end`;

const ENTRY = `case s.kind ${Object.entries(SUBMISSION_KINDS)
  .map(([kind, { entry }]) => `when '${kind}' then '${entry}'`)
  .join(' ')} end`;

export const SENT_TABLES: Readonly<Record<SentTable, SentColumns>> = {
  hold: {
    stateColumn: 'phase',
    atWork: 'AUTHORIZING',
    // The release that closes a checkout comes to review itself.
    reviewable: "s.phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN') and not s.closing",
    state: HOLD_STATE,
    kind: `'HOLD'`,
    entry: `'AUTHORIZATION'`,
    // The hold has its metadata itself, and its operation has none.
    metadata: 'null::jsonb',
    reason: 'null::text',
    holdRequestId: 'null::uuid',
    authorizationId: 'null::uuid',
  },
  submission: {
    stateColumn: 'state',
    atWork: 'PENDING',
    reviewable: "s.state in ('PENDING', 'UNKNOWN')",
    state: 's.state',
    kind: 's.kind',
    entry: ENTRY,
    metadata: 's.metadata',
    reason: 's.reason',
    holdRequestId: 's.hold_request_id',
    authorizationId: 's.authorization_id',
  },
};

/** A statement about each of the two tables. */
export function statementsOfBoth(
  name: string,
  text: (table: SentTable, columns: SentColumns) => string,
): Readonly<Record<SentTable, Statement>> {
  return {
    hold: { name: `${name}-hold`, text: text('hold', SENT_TABLES.hold) },
    submission: { name: `${name}-submission`, text: text('submission', SENT_TABLES.submission) },
  };
}

/** SQL: a select for each of the two tables, joined by `union all`. */
export function ofBothTables(select: (table: SentTable, columns: SentColumns) => string): string {
  return `${select('hold', SENT_TABLES.hold)}
    union all ${select('submission', SENT_TABLES.submission)}`;
}
