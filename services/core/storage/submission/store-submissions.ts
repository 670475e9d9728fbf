import { AGAIN } from '../../../../platform/gather.ts';
import type { Change } from '../../domain/hold.ts';
import type { SubmissionKind } from '../../domain/kinds.ts';
import { CLAIM_INPUT, CLAIMED, type ClaimInput, findClaims } from '../claim/claim-row.ts';
import { sentUnderKey } from '../claim/key-identifier.ts';
import type { Query, Statement } from '../database.ts';
import { LOST_BELOW } from '../reconciling.ts';

/** What is stored before the processor is asked. It goes as JSON: times are RFC 3339, money is minor units as text. */
export interface SentInput extends Partial<ClaimInput> {
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
}

/** A new submission. What only some kinds have is absent for the others. */
export interface SubmissionInput extends SentInput {
  readonly kind: SubmissionKind;
  /**
   * The hold that it changes, its version as it was judged, whether nothing else may be captured of it meanwhile, and
   * how it changes.
   */
  readonly holdRequestId?: string | undefined;
  readonly version?: string | undefined;
  readonly closing?: boolean | undefined;
  /** What of the hold the amount is reserved from; null or absent = nothing. */
  readonly reserves?: 'REMAINING' | 'CAPTURED' | null | undefined;
  /** The hold has ended, so the amount is taken from what it has released. */
  readonly fromReleased?: boolean | undefined;
  /** Of a refund: the capture that it gives back. */
  readonly captureRequestId?: string | undefined;
  readonly changing?: Change | undefined;
  readonly finalCapture?: boolean | undefined;
  /** The hold makes this capture by itself, at its captureAt. */
  readonly automatic?: boolean | undefined;
  /** A void that the processor did by itself, and what it said of it. */
  readonly reported?: boolean | undefined;
  readonly amountReleased?: string | undefined;
  readonly processorReference?: string | undefined;
  readonly terminalId?: string | undefined;
  readonly userId?: string | undefined;
  readonly tokenId?: string | undefined;
  readonly merchantReference?: string | undefined;
}

/**
 * What became of storing. Unless it is stored, its key or its requestId is taken, its caller's deadline is over, or the
 * database went back in time and may have lost an operation under this key or requestId.
 */
export interface Stored {
  readonly outcome: 'STORED' | 'KEY_TAKEN' | 'REPEATED' | 'LATE' | 'MAYBE_LOST';
  /** Of what is stored: its identifier at the processor; null = its requestId. */
  readonly processorRequestId: string | null;
}

/**
 * Runs a statement that stores what is sent. Returns what became of each, in their order; AGAIN = judge it again,
 * because its hold is locked or has changed, or another one of the same requestId is before it.
 */
export async function storeEach(
  query: Query,
  statement: Statement,
  inputs: readonly SentInput[],
): Promise<(Stored | typeof AGAIN)[]> {
  const names = inputs.map(({ requestId }) => requestId);
  const firsts = inputs.flatMap((each, place) => (names.indexOf(each.requestId) === place ? [{ ...each, place }] : []));
  const rows = await query<OutcomeRow>(statement, [JSON.stringify(firsts)]);
  const outcomes = new Map(rows.map((row) => [row.place, row]));
  const isRefused = (place: number) => REFUSALS.has(outcomes.get(place)?.outcome ?? AGAIN);
  const refused = names.filter((_, place) => isRefused(place));
  const known = new Set(refused.length > 0 ? (await findClaims(query, refused)).map(({ requestId }) => requestId) : []);
  return inputs.map(({ requestId }, place) => {
    const { outcome, sent_as } = outcomes.get(place) ?? { outcome: AGAIN, sent_as: null };
    if (outcome === AGAIN) return AGAIN;
    return { outcome: known.has(requestId) ? 'REPEATED' : outcome, processorRequestId: sent_as };
  });
}

interface OutcomeRow {
  readonly place: number;
  readonly outcome: Exclude<Stored['outcome'], 'REPEATED'> | typeof AGAIN;
  readonly sent_as: string | null;
}

const REFUSALS: ReadonlySet<string> = new Set(['LATE', 'KEY_TAKEN', 'MAYBE_LOST']);

/** Stores submissions, those of a hold each of another one. */
export function storeSubmissions(
  query: Query,
  submissions: readonly SubmissionInput[],
): Promise<(Stored | typeof AGAIN)[]> {
  return storeEach(query, STORE_SUBMISSIONS, submissions);
}

/** SQL: columns of the input that all have. */
export const SENT_INPUT = `place int, "requestId" uuid, "merchantId" text, amount bigint, currency text, processor text,
      "processorAccount" text, "processorRequestId" uuid, imported boolean, "createdAt" timestamptz,
      "inquireAt" timestamptz,
      deadline timestamptz, ${CLAIM_INPUT}`;

/** SQL: conditions on a row `i` of the input under which it is not stored. */
export const IS_LATE = 'coalesce(i.deadline <= clock_timestamp(), false) as late';
export const MAY_BE_LOST = `lost.below is not null and not coalesce(i.imported, false)
      and (i.key is not null or i."requestId" < lost.below) as maybe_lost`;
export const LOST = `cross join (select ${LOST_BELOW} as below) lost`;

/**
 * SQL that ends the statement: what became of each row. KEY_TAKEN = the key or the requestId is; AGAIN = its hold could
 * not be locked.
 */
export const OUTCOMES = `select i.place, i."sentAs" as sent_as,
    case when i."requestId" in (select request_id from claimed) then 'STORED'
      when i.late then 'LATE'
      when i.maybe_lost and not i.met then 'MAYBE_LOST'
      when i.met or i."requestId" in (select "requestId" from admissible) then 'KEY_TAKEN'
      else 'AGAIN' end as outcome
  from input i`;

/**
 * Stores submissions of all kinds, and reserves the amount of each on its hold, if it has one. A hold that somebody
 * else has locked or changed since it was judged is left out; nothing waits for it, and its submission is judged again.
 *
 * Reading, judging and writing in one transaction would hold the lock while the client judges, and for ever when it is
 * frozen there. Here the only locks are those of one statement, which ends without the client.
 */
export const STORE_SUBMISSIONS: Statement = {
  name: 'store-submissions',
  text: `with input as materialized (
    select i.*, sent.*, ${IS_LATE}, ${MAY_BE_LOST}
    from json_to_recordset($1::json) as i(${SENT_INPUT}, kind text,
      "holdRequestId" uuid, version xid, closing boolean, changing text, reserves text, "fromReleased" boolean,
      "captureRequestId" uuid, "finalCapture" boolean, automatic boolean, reported boolean, "amountReleased" bigint,
      "processorReference" text, "terminalId" text, "userId" text, "tokenId" text, "merchantReference" text)
    ${LOST}
    ${sentUnderKey('submission')}
  ),
  locked as materialized (
    select i.* from input i join hold h on h.request_id = any (array[i."holdRequestId"])
    where h.xmin = i.version and not i.late and not i.met and not i.maybe_lost
    for no key update of h skip locked
  ),
  admissible as materialized (
    select * from locked union all select * from input where "holdRequestId" is null and not late and not met
      and not maybe_lost
  ),
  ${CLAIMED},
  reserved as (
    update hold h set closing = i.closing, changing = coalesce(i.changing, h.changing),
      remaining = h.remaining - case when i."fromReleased" then 0 else r.of_hold end,
      released = h.released - case when i."fromReleased" then r.of_hold else 0 end,
      in_flight = h.in_flight + r.of_hold, refunding = h.refunding + r.of_captured,
      auto_capture_id = case when i.automatic then i."requestId" else h.auto_capture_id end,
      auto_capture_count = h.auto_capture_count + coalesce(i.automatic, false)::int
    from admissible i cross join lateral (select case when i.reserves = 'REMAINING' then i.amount else 0 end as of_hold,
      case when i.reserves = 'CAPTURED' then i.amount else 0 end as of_captured) r
    where h.request_id = any (array[i."holdRequestId"]) and i."requestId" in (select request_id from claimed)
  ),
  refunding as (
    update submission s set amount_refunding = s.amount_refunding + i.amount
    from admissible i
    where s.request_id = any (array[i."captureRequestId"]) and i."requestId" in (select request_id from claimed)
  ),
  stored as (
    insert into submission (request_id, merchant_id, amount, currency, processor, processor_account,
      processor_request_id, created_at, inquire_at, inquiry_count, kind, state, hold_request_id, capture_request_id,
      final_capture, amount_reversed, amount_refunded, amount_refunding, reported,
      amount_released, processor_reference, terminal_id, user_id, token_id, merchant_reference)
    select "requestId", "merchantId", amount, currency, processor, "processorAccount", "sentAs",
      "createdAt", "inquireAt", 0, kind, 'PENDING', "holdRequestId", "captureRequestId", "finalCapture",
      case when kind = 'CAPTURE' then 0 end, case when kind = 'CAPTURE' then 0 end,
      case when kind = 'CAPTURE' then 0 end, coalesce(reported, false),
      "amountReleased", "processorReference", "terminalId", "userId", "tokenId", "merchantReference"
    from admissible where "requestId" in (select request_id from claimed)
  )
  ${OUTCOMES}`,
};
