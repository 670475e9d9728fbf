import { AGAIN } from '../../../../platform/gather.ts';
import type { SubmissionTable } from '../../domain/kinds.ts';
import { byIndex } from '../by-index.ts';
import { claimed, findClaimed, type KeyInput } from '../claim/claim.ts';
import { sentUnderKey } from '../claim/key-identifier.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS } from '../hold/read-holds.ts';
import { LOST_BELOW } from '../reconciling.ts';

/** A new submission, before the processor is asked. It goes as JSON: times are RFC 3339, money is minor units as text. */
export interface SubmissionInput {
  readonly requestId: string;
  readonly merchantId: string;
  readonly amount: string;
  readonly currency: string;
  /** A name of PROCESSORS, and the merchant's account there. */
  readonly processor: string;
  readonly processorAccount: string;
  /** Its identifier there; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly createdAt: string;
  readonly inquireAt: string;
  /** By PostgreSQL's clock; after it nothing is stored. */
  readonly deadline?: string | undefined;
  readonly key?: KeyInput | undefined;
}

/** A new submission that reserves its amount on a hold, whose processor and account it has. */
export interface ReservationInput extends SubmissionInput {
  readonly holdRequestId: string;
  /** The hold's, as it was judged. */
  readonly version: string;
  /** Whether nothing else may be captured until it has its result. */
  readonly closing: boolean;
}

/**
 * Why a new submission was not stored: its key or its requestId is taken, its caller's deadline is over, or the database went back in time
 * and may have lost an operation under this key or requestId.
 */
export type NotStored = 'KEY_TAKEN' | 'REPEATED' | 'LATE' | 'MAYBE_LOST';

/** What became of storing a new submission. */
export interface Stored<Outcome extends string = 'STORED'> {
  readonly outcome: Outcome | NotStored;
  /** Its identifier at the processor; null = its requestId. */
  readonly processorRequestId: string | null;
}

/**
 * Stores new submissions by a statement of insertion() or reservation(). Returns what became of each, in their order; AGAIN = judge it
 * again, because its hold is locked or has changed, or another one of the same requestId is before it.
 */
export async function storeSubmissions(
  query: Query,
  statement: Statement,
  submissions: readonly SubmissionInput[],
): Promise<(Stored | typeof AGAIN)[]> {
  const first = new Map(submissions.map(({ requestId }, index) => [requestId, index] as const).reverse());
  const isFirst = ({ requestId }: SubmissionInput, index: number) => first.get(requestId) === index;
  const input = submissions.flatMap((each, place) => (isFirst(each, place) ? [{ ...each, place }] : []));
  const rows = await query<OutcomeRow>(statement, [JSON.stringify(input)]);
  const outcomes = new Map(rows.map((row) => [row.place, row]));
  const refused = input.filter(({ place }) => !PASSING.has(outcomes.get(place)?.outcome ?? AGAIN));
  const known = refused.length === 0 ? NONE : await findClaimed(query, requestIdsOf(refused));
  return submissions.map(({ requestId }, place) => {
    const row = outcomes.get(place);
    if (row === undefined || row.outcome === AGAIN) return AGAIN;
    if (row.outcome === 'STORED') return { outcome: 'STORED', processorRequestId: row.sent_as };
    return { outcome: known.has(requestId) ? 'REPEATED' : row.outcome, processorRequestId: null };
  });
}

interface OutcomeRow {
  readonly place: number;
  readonly outcome: 'STORED' | 'LATE' | 'KEY_TAKEN' | 'MAYBE_LOST' | typeof AGAIN;
  readonly sent_as: string | null;
}

const PASSING: ReadonlySet<string> = new Set(['STORED', AGAIN]);
const NONE: ReadonlySet<string> = new Set();

function requestIdsOf(submissions: readonly SubmissionInput[]): string[] {
  return submissions.map(({ requestId }) => requestId);
}

/** What only the rows of one table have, besides what all submissions have. SQL. */
interface OwnColumns {
  /** Columns of the input, with their types. */
  readonly input: string;
  /** Columns of the table, and their values by the input's columns. */
  readonly columns: string;
  readonly values: string;
}

/** Makes a statement that stores submissions. Only where the condition `keyed` holds does the identifier follow from the key. */
export function insertion(name: string, table: SubmissionTable, own: OwnColumns, keyed?: string): Statement {
  const text = `with ${input(table, own.input, keyed)},
  admissible as materialized (select * from input where not late and not met and not maybe_lost),
  ${claimed('admissible')},
  stored as (${insert(table, own)})
  ${OUTCOMES}`;
  return { name, text };
}

/**
 * Makes a statement that stores submissions (ReservationInput), each on another hold, and reserves their amounts. It refuses by itself
 * what the hold has no room for: the condition `room` on the hold `h` and the row `i`.
 */
export function reservation(
  name: string,
  table: 'capture' | 'release',
  { room, ...own }: OwnColumns & { room: string },
): Statement {
  const onHold = `${own.input}, "holdRequestId" uuid, version xid, closing boolean`;
  const columns = { columns: `hold_request_id, ${own.columns}`, values: `"holdRequestId", ${own.values}` };
  const text = `with ${input(table, onHold)},
  ${LOCK_UNCHANGED_HOLDS},
  admissible as materialized (
    select i.* from locked i join hold h on ${byIndex('h.request_id', 'i."holdRequestId"')}
    where not late and not met and not maybe_lost and (${room})
  ),
  ${claimed('admissible')},
  changed as (
    update hold h set remaining = h.remaining - i.amount, in_flight = h.in_flight + i.amount, closing = i.closing
    from admissible i
    where ${byIndex('h.request_id', 'i."holdRequestId"')} and i."requestId" in (select request_id from claimed)
  ),
  stored as (${insert(table, columns)})
  ${OUTCOMES}`;
  return { name, text };
}

function input(table: SubmissionTable, own: string, keyed?: string): string {
  return `input as materialized (
    select i.*, coalesce(i.deadline <= clock_timestamp(), false) as late, sent.*,
      lost.below is not null and not coalesce(i.imported, false) and (i.key is not null or i."requestId" < lost.below) as maybe_lost
    from json_to_recordset($1::json) as i(place int, "requestId" uuid, "merchantId" text, amount bigint, currency text,
      processor text, "processorAccount" text, "processorRequestId" uuid, imported boolean, "createdAt" timestamptz,
      "inquireAt" timestamptz, deadline timestamptz, key json, ${own})
    cross join (select ${LOST_BELOW} as below) lost
    ${sentUnderKey(table, keyed)}
  )`;
}

function insert(table: SubmissionTable, { columns, values }: Omit<OwnColumns, 'input'>): string {
  return `insert into ${table} (request_id, merchant_id, amount, currency, processor, processor_account,
      processor_request_id, imported, created_at, inquire_at, inquiry_count, ${columns})
    select "requestId", "merchantId", amount, currency, processor, "processorAccount", "sentAs", coalesce(imported, false),
      "createdAt", "inquireAt", 0, ${values}
    from admissible where "requestId" in (select request_id from claimed)`;
}

/** What became of each row of `input`; `sent_as` is the identifier at the processor. KEY_TAKEN = the key or the requestId is. */
const OUTCOMES = `select i.place, i."sentAs" as sent_as,
    case when i."requestId" in (select request_id from claimed) then 'STORED'
      when i.late then 'LATE'
      when i.maybe_lost and not i.met then 'MAYBE_LOST'
      when i.met or i."requestId" in (select "requestId" from admissible) then 'KEY_TAKEN'
      else 'AGAIN' end as outcome
  from input i`;
