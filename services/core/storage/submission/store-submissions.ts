import { ResultLost } from '../../../../platform/gather.ts';
import type { Change } from '../../domain/hold-rules.ts';
import { CLAIM_INPUT, CLAIMED, type ClaimInput } from '../claim/claim-row.ts';
import { sentUnderKey } from '../claim/key-identifier.ts';
import { type Query, type Statement, sql } from '../database.ts';
import { isNotCounted } from '../database-errors.ts';
import { versionOf } from '../hold/hold-version.ts';
import type { ReadHold } from '../hold/read-holds.ts';
import { inputColumns, list, type NewRow } from '../input-columns.ts';
import { LOST_BELOW } from '../reconciling.ts';
import { ofBothTables } from './sent-tables.ts';
import { DEMAND_COUNTED, WITHIN_CONTRACT } from './spend-limits.ts';
import type { SubmissionRow } from './submission-row.ts';

/** The call that makes something which is sent to a processor, as a statement takes it. */
export interface CallInput extends Partial<ClaimInput> {
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  /** Its identifier at the processor; null or absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | null | undefined;
  /** By PostgreSQL's clock; after it nothing is stored. */
  readonly deadline?: Date | undefined;
}

/** The effect of a submission on its hold. */
export interface HoldChange {
  /** The hold's, as it was judged. */
  readonly version?: string | undefined;
  /** True when nothing else may be captured meanwhile; and the change of the hold. */
  readonly closing?: boolean | undefined;
  readonly changing?: Change | undefined;
  /** The amount of the hold to reserve from; null or absent = none. */
  readonly reserves?: 'REMAINING' | 'CAPTURED' | null | undefined;
  /** The hold has ended, so the amount is taken from what it has released. */
  readonly fromReleased?: boolean | undefined;
  /** The hold makes this capture by itself, at its captureAt. */
  readonly automatic?: boolean | undefined;
}

/** The stored columns of every operation sent, with their types, without its identifier at the processor. */
export const SENT_COLUMNS = {
  requestId: 'uuid',
  merchantId: 'text',
  amount: 'bigint',
  currency: 'text',
  processor: 'text',
  processorAccount: 'text',
  createdAt: 'timestamptz',
  inquireAt: 'timestamptz',
} as const satisfies Partial<Record<keyof SubmissionRow, string>>;

/** The stored columns of a new submission. STORE_SUBMISSIONS has the initial values of the others. */
const COLUMNS = {
  ...SENT_COLUMNS,
  kind: 'text',
  holdRequestId: 'uuid',
  authorizationId: 'uuid',
  captureRequestId: 'uuid',
  finalCapture: 'boolean',
  reported: 'boolean',
  amountReleased: 'bigint',
  processorReference: 'text',
  terminalId: 'text',
  userId: 'text',
  tokenId: 'text',
  merchantReference: 'text',
  metadata: 'jsonb',
  reason: 'text',
} as const satisfies Partial<Record<keyof SubmissionRow, string>>;

/** A new submission, what it does to its hold, and the call that it comes of. */
export type SubmissionInput = NewRow<SubmissionRow, keyof typeof COLUMNS> & HoldChange & CallInput;

/**
 * The result of storing. A submission is not stored when its key or requestId is taken, its caller's deadline is over,
 * the database was restored and may have lost that this was done, or the merchant's contract does not allow it.
 */
export interface Stored {
  readonly outcome: 'STORED' | 'KEY_TAKEN' | 'REPEATED' | 'LATE' | 'MAYBE_LOST' | 'OCT_NOT_ALLOWED' | 'LIMIT_EXCEEDED';
  /** Its identifier at the processor, when it is stored; null = the requestId. */
  readonly processorRequestId: string | null;
  /** What it changed of its hold, and the hold's version since; empty when it changed none. */
  readonly reserved: Partial<ReadHold>;
  /** LIMIT_EXCEEDED: the limit. */
  readonly exceeded?: ExceededLimit | undefined;
}

/** A limit that an operation would exceed. */
export interface ExceededLimit {
  /** Minor units. */
  readonly limit: bigint;
  /** When the operation may fit again; undefined = it is more than the limit by itself. */
  readonly resetsAt?: Date | undefined;
}

/**
 * Runs a statement that stores operations, in the form that `asRow` makes. Returns the result for each. An operation
 * without a result must be judged again: its hold is locked or has changed, or an earlier one has the same requestId.
 * Throws ResultLost when something may be stored and cannot be read.
 */
export async function storeEach<Input extends { readonly requestId: string }>(
  query: Query,
  statement: Statement,
  inputs: readonly Input[],
  asRow: (input: Input) => object,
): Promise<ReadonlyMap<Input, Stored>> {
  const stored = new Map<Input, Stored>();
  if (inputs.length === 0) return stored;
  const firsts = new Map<string, object>();
  for (const [place, input] of inputs.entries()) {
    if (!firsts.has(input.requestId)) firsts.set(input.requestId, { ...asRow(input), place });
  }
  const rows = await query<OutcomeRow>(statement, [JSON.stringify([...firsts.values()])]);
  const refused = rows.flatMap(({ place, outcome }) => (REFUSALS.has(outcome) ? (inputs[place]?.requestId ?? []) : []));
  const known = await readKnown(query, refused);
  for (const { place, outcome, sentAs: processorRequestId, limit = null, resetsAt = null, ...reserved } of rows) {
    const input = inputs[place] as Input;
    if (outcome === 'AGAIN') continue;
    const isRepeated = known.has(input.requestId);
    const exceeded = limit === null ? undefined : { limit, resetsAt: resetsAt ?? undefined };
    stored.set(input, { outcome: isRepeated ? 'REPEATED' : outcome, processorRequestId, reserved, exceeded });
  }
  return stored;
}

/** Returns those whose requestId is stored. */
async function readKnown(query: Query, requestIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (requestIds.length === 0) return new Set();
  try {
    const rows = await query<{ requestId: string }>(READ_KNOWN, [requestIds]);
    return new Set(rows.map(({ requestId }) => requestId));
  } catch (cause) {
    throw new ResultLost('what was stored before cannot be read', { cause });
  }
}

const READ_KNOWN: Statement = {
  name: 'read-known',
  text: ofBothTables((table) => `select request_id from ${table} where request_id = any($1::uuid[])`),
};

interface OutcomeRow extends Partial<ReadHold> {
  readonly place: number;
  readonly outcome: Exclude<Stored['outcome'], 'REPEATED'> | 'AGAIN';
  readonly sentAs: string | null;
  readonly limit?: bigint | null;
  readonly resetsAt?: Date | null;
}

const REFUSALS: ReadonlySet<string> = new Set(['LATE', 'KEY_TAKEN', 'MAYBE_LOST', 'OCT_NOT_ALLOWED', 'LIMIT_EXCEEDED']);

/** Stores submissions, those of a hold each of another one. */
export async function storeSubmissions(query: Query, submissions: readonly SubmissionInput[]) {
  try {
    return await storeEach(query, STORE_SUBMISSIONS, submissions, (submission) => ({
      ...submission,
      amount: submission.amount.toString(),
      amountReleased: submission.amountReleased?.toString(),
    }));
  } catch (error) {
    if (!isNotCounted(error)) throw error;
    // Another statement has taken a key meanwhile, and nothing is stored. All are judged again, and see that key then.
    return new Map<SubmissionInput, Stored>();
  }
}

/** SQL: columns of the input that say what call a row comes of. */
export const CALL_INPUT = `place int, ${CLAIM_INPUT}, "processorRequestId" uuid, imported boolean,
      deadline timestamptz`;

/** SQL: conditions on a row `i` of the input under which it is not stored; `orDone` has more by which it may be lost. */
export const IS_LATE = 'coalesce(i.deadline <= clock_timestamp(), false) as late';
export const mayBeLost = (orDone = '') => `lost.below is not null and not coalesce(i.imported, false)
      and (i.key is not null or i."requestId" < lost.below${orDone}) as maybe_lost`;
export const LOST = `cross join (select ${LOST_BELOW} as below) lost`;

/** SQL: what became of a row `i` of the input. AGAIN = its hold could not be locked. */
const OUTCOME = `case when i."requestId" in (select request_id from claimed) then 'STORED'
      when i.late then 'LATE'
      when i.maybe_lost and not i.met then 'MAYBE_LOST'
      when i.met or i."requestId" in (select "requestId" from admissible) then 'KEY_TAKEN'
      else 'AGAIN' end`;

/**
 * SQL that ends the statement: what became of each row, with `columns` of what is joined to the input `i`. AGAIN = its
 * hold could not be locked.
 */
export const outcomes = (columns: string, joined: string, outcome = OUTCOME) => `select i.place, i."sentAs", ${columns},
    ${outcome} as outcome
  from input i ${joined}`;

/**
 * SQL: what core does by itself may have been done and be lost, but for the void of a late authorization, which is sent
 * later. A checkout may be paid, so it is not cancelled.
 */
const OR_DONE = `
      or (i.method is null and i.kind <> 'LATE_VOID')
      or (i.kind = 'RELEASE' and 'AWAITING_CHECKOUT' = (
        select h.phase from hold h where h.request_id = any (array[i."holdRequestId"])))`;

const SUBMISSION = inputColumns(COLUMNS);

/** SQL: the columns of a hold `h` that a submission `i` changes, with their values; `r` has what it reserves. */
const RESERVED = {
  closing: 'i.closing',
  changing: 'coalesce(i.changing, h.changing)',
  remaining: `h.remaining - case when i."fromReleased" then 0 else r.of_hold end`,
  released: `h.released - case when i."fromReleased" then r.of_hold else 0 end`,
  in_flight: 'h.in_flight + r.of_hold',
  refunding: 'h.refunding + r.of_captured',
  auto_capture_id: `case when i.automatic then i."requestId" else h.auto_capture_id end`,
  auto_capture_count: 'h.auto_capture_count + coalesce(i.automatic, false)::int',
  renewal_id: `case when i.kind = 'RENEWAL' then i."requestId" else h.renewal_id end`,
  to_void: `case when i.kind = 'LATE_VOID' then nullif(h.to_void, coalesce(i."authorizationId", h.request_id))
        else h.to_void end`,
};
const CHANGED = Object.keys(RESERVED);
const changedOf = (row: string) => CHANGED.map((name) => `${row}.${name}`);

/**
 * Stores submissions of all kinds, and reserves the amount of each on its hold, if it has one. A submission whose hold
 * is locked, or has changed since it was judged, is left out without waiting, and judged again. `eligible` has the
 * others, and `admissible` those that the merchant's contract allows. Of those, only the ones that could claim their
 * names are reserved on holds (`reserved`) and on captures
 * (`refunding`), and stored.
 *
 * Reading, judging and writing in one transaction would hold the lock while the client judges, and for ever if it
 * freezes there. Here the locks are those of one statement, which ends without the client.
 */
export const STORE_SUBMISSIONS = sql('store-submissions')`with input as materialized (
    select i.*, sent.*, ${IS_LATE}, ${mayBeLost(OR_DONE)}
    from json_to_recordset($1::json) as i(${CALL_INPUT}, version text, closing boolean, changing text, reserves text,
      "fromReleased" boolean, automatic boolean,
      ${SUBMISSION.definitions})
    ${LOST}
    ${sentUnderKey('submission')}
  ),
  locked as materialized (
    select i.* from input i join hold h on h.request_id = any (array[i."holdRequestId"])
    where ${versionOf('h')} = i.version and not i.late and not i.met and not i.maybe_lost
    for no key update of h skip locked
  ),
  eligible as materialized (
    select * from locked union all select * from input where "holdRequestId" is null and not late and not met
      and not maybe_lost
  ),
  ${WITHIN_CONTRACT},
  ${CLAIMED},
  reserved as (
    update hold h set ${Object.entries(RESERVED)
      .map(([name, value]) => `${name} = ${value}`)
      .join(',\n      ')}
    from admissible i cross join lateral (select case when i.reserves = 'REMAINING' then i.amount else 0 end as of_hold,
      case when i.reserves = 'CAPTURED' then i.amount else 0 end as of_captured) r
    where h.request_id = any (array[i."holdRequestId"]) and i."requestId" in (select request_id from claimed)
    returning ${list(['i."requestId" as of_request', `${versionOf('h')} as version`, ...changedOf('h')])}
  ),
  refunding as (
    update submission s set amount_refunding = s.amount_refunding + i.amount
    from admissible i
    where s.request_id = any (array[i."captureRequestId"]) and i."requestId" in (select request_id from claimed)
  ),
  stored as (
    insert into submission (processor_request_id, inquiry_count, state, amount_reversed, amount_refunded,
      amount_refunding, counted_on,
      ${SUBMISSION.table})
    select "sentAs", 0, 'PENDING', case when kind = 'CAPTURE' then 0 end, case when kind = 'CAPTURE' then 0 end,
      case when kind = 'CAPTURE' then 0 end, "countedOn",
      ${SUBMISSION.values}
    from admissible where "requestId" in (select request_id from claimed)
  )
  ${outcomes(
    list(['v.version', ...changedOf('v'), 'f."limit"', `(f.day + 1)::timestamp at time zone 'UTC' as "resetsAt"`]),
    `left join reserved v on v.of_request = i."requestId" left join forbidden f on f."requestId" = i."requestId"`,
    `case when ${DEMAND_COUNTED} then null else coalesce(f.outcome, ${OUTCOME}) end`,
  )}`;
