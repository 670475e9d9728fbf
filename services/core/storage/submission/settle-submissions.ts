import type { Contradiction } from '../../domain/contradiction.ts';
import type { Capabilities, HoldBooks } from '../../domain/hold-rules.ts';
import type { Card } from '../../domain/outcome.ts';
import { becauseAlso, type ContradictionInput, insertContradictions } from '../contradiction/contradictions.ts';
import { type Query, type Statement, sql } from '../database.ts';
import type { EndpointId } from '../delivery/delivery-row.ts';
import { versionOf } from '../hold/hold-version.ts';
import { noticeAt } from '../hold/notice-at.ts';
import type { ReadHold } from '../hold/read-holds.ts';
import { renewAt } from '../hold/renew-at.ts';
import { APPEND_RESULTS, NOTIFIED, type ResultInput } from '../operation/append-results.ts';
import { GIVE_ROOM_BACK } from './spend-limits.ts';

/** The result of an operation sent to a processor. It is passed as JSON: times are RFC 3339, amounts minor units. */
export interface EndInput {
  readonly requestId: string;
  readonly ok: boolean;
  readonly at: string;
  readonly processorReference?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  readonly card?: Card | undefined;
  /** Its result; absent = it has none of its own. */
  readonly operation?: ResultInput | undefined;
}

/** The new books of a hold. */
export interface BooksInput extends HoldBooks {
  readonly holdRequestId: string;
  /** The hold's, as the books were reckoned. */
  readonly version: string;
}

/** The effect of an ended refund on its capture. */
export interface CaptureInput {
  readonly captureRequestId: string;
  /** Minor units: the refunded amount, and the amount no longer reserved by the refund. */
  readonly amountRefunded: bigint;
  readonly amountReserved: bigint;
}

/** The result of a submission. */
export interface SubmissionEnd extends EndInput, Partial<BooksInput>, Partial<CaptureInput> {
  readonly bankReference?: string | undefined;
  /** The amount that the processor says it gave back. */
  readonly amountReleased?: bigint | undefined;
  /** The processor's contradiction of our books: it is kept, and the hold is frozen. */
  readonly contradicts?: Contradiction | undefined;
  readonly contradiction?: ContradictionInput | undefined;
  /** The end of the hold, which waits for an operator: what the rest is booked as then, and how much that is. */
  readonly endedAs?: 'EXPIRED' | undefined;
  readonly endedAmount?: bigint | undefined;
  /** A capture that the hold made by itself never arrived: it is made again. */
  readonly again?: boolean | undefined;
  /** When the hold ends from now on; absent = as before. */
  readonly expiresAt?: string | undefined;
  /** How long the card scheme guarantees the hold from now on; absent = as before, or of a new authorization unknown. */
  readonly guaranteedUntil?: string | undefined;
  /** When the hold renews itself next: infinity = never; absent = as its times say. */
  readonly renewAt?: string | undefined;
  /** The RENEWAL whose authorization is the hold's from now on; absent = as before. */
  readonly authorizationId?: string | undefined;
  /** The authorization that is to be given back now; absent = as before. */
  readonly toVoid?: string | undefined;
  /** The abilities of the authorization from now on; absent = unchanged. */
  readonly capabilities?: Capabilities | undefined;
  /** The hold was never placed and is given up, for this reason. */
  readonly failCode?: string | undefined;
  readonly failMessage?: string | undefined;
}

/** The effect of a settling statement. */
export interface Settled {
  /** The submissions or holds that it ended, with the columns of a hold that only the statement knows. */
  readonly changed: ReadonlyMap<string, Partial<ReadHold>>;
  /** The requestIds whose rows it could lock; the others are to be tried again. */
  readonly locked: ReadonlySet<string>;
  /** The endpoints for which it made deliveries, by the requestId of the result. */
  readonly delivered: ReadonlyMap<string, readonly EndpointId[]>;
}

/** Runs a statement that settles. What has ended, is locked by somebody else or has changed is left as it is. */
export async function settleEach(query: Query, statement: Statement, ends: readonly object[]): Promise<Settled> {
  const json = JSON.stringify(ends, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
  const locked = new Set<string>();
  const changed = new Map<string, Partial<ReadHold>>();
  const delivered = new Map<string, EndpointId[]>();
  for (const { what, id, endpointId, ...written } of await query<DoneRow>(statement, [json])) {
    if (what === 'changed') changed.set(id, written);
    else if (what === 'locked') locked.add(id);
    else delivered.set(id, [...(delivered.get(id) ?? []), endpointId]);
  }
  return { changed, locked, delivered };
}

/** Ends submissions, those of a hold each of another one. */
export function settleSubmissions(query: Query, ends: readonly SubmissionEnd[]): Promise<Settled> {
  return settleEach(query, SETTLE_SUBMISSIONS, ends);
}

/** SQL: columns of the input of every statement that settles. */
export const END_INPUT = `"requestId" uuid, ok boolean, at timestamptz, "processorReference" text, "processorCode" text,
      "processorMessage" text, card json, operation json`;

/** SQL: the card of a row becomes that of an end `row`. */
export const setCard = (row: string) => `card_brand = ${row}.card->>'brand', card_last4 = ${row}.card->>'last4',
      card_expiry_month = (${row}.card->>'expiryMonth')::int, card_expiry_year = (${row}.card->>'expiryYear')::int,
      card_funding = ${row}.card->>'funding', card_three_d_secure = ${row}.card->>'threeDSecure',
      card_decline_code = ${row}.card->>'declineCode'`;

/** SQL: columns of the input that change the books of a hold. */
export const BOOKS_INPUT = `"holdRequestId" uuid, version text, status text, amount bigint, captured bigint,
      "inFlight" bigint, remaining bigint, released bigint, reversed bigint, refunded bigint, refunding bigint,
      "releaseReason" text, closing boolean, changing text`;

/** SQL: the books of a hold `h` become those of a row `c`. */
export const SET_BOOKS = `status = c.status, amount = c.amount, captured = c.captured, in_flight = c."inFlight",
      remaining = c.remaining,
      released = c.released, reversed = c.reversed, refunded = c.refunded, refunding = c.refunding,
      release_reason = c."releaseReason", closing = c.closing, changing = c.changing,
      notification_count = h.notification_count + ${NOTIFIED},
      closed_at = case when c.status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') then null
        else coalesce(h.closed_at, c.at) end`;

interface DoneRow extends Partial<ReadHold> {
  readonly what: 'changed' | 'delivery' | 'locked';
  readonly id: string;
  /** Of a delivery. */
  readonly endpointId: EndpointId;
}

/** SQL that ends a statement that settles: what it did, with more columns of what it `changed`. */
export function done(...columns: readonly string[]): string {
  const nulls = columns.map(() => ', null').join('');
  return `select ${["'changed' as what", 'subject_id::text as id', 'null as endpoint_id', ...columns].join(', ')} from changed
  union all select 'delivery', request_id, endpoint_kind${nulls} from delivered
  union all select 'locked', "requestId"::text, null${nulls} from locked`;
}

const NOTICE_AT = noticeAt({
  guaranteedUntil: 'c."guaranteedAfter"',
  expiresAt: 'c."expiresAfter"',
  releaseAt: 'h.release_at',
  hours: 'h.notify_expiring_hours',
});

const RENEW_AT = renewAt({
  keepUntil: 'h.keep_until',
  captureAt: 'h.capture_at',
  releaseAt: 'h.release_at',
  guaranteedUntil: 'c."guaranteedAfter"',
  expiresAt: 'c."expiresAfter"',
  now: 'c.at',
});

const TIMES_CHANGED = `(c."expiresAfter", c."guaranteedAfter") is distinct from (h.expires_at, h.guaranteed_until)`;

/**
 * Ends submissions of all kinds. `locked` are those whose hold is still as their end was reckoned, or that have none;
 * `changed` are those of them that were open. Only these change their hold (`booked`) and the capture that they refund
 * (`refunded`), and have their result and its delivery written.
 */
export const SETTLE_SUBMISSIONS = sql('settle-submissions')`with input as materialized (
    select * from json_to_recordset($1::json) as i(${END_INPUT},
      ${BOOKS_INPUT},
      "bankReference" text, "amountReleased" bigint, contradiction json, "endedAs" text, "endedAmount" bigint, again boolean, "expiresAt" timestamptz,
      "guaranteedUntil" timestamptz, capabilities jsonb, "failCode" text, "failMessage" text, "captureRequestId" uuid, "amountRefunded" bigint,
      "amountReserved" bigint, "renewAt" timestamptz, "authorizationId" uuid, "toVoid" uuid)
  ),
  on_hold as materialized (
    select i.*, h.frozen as "wasFrozen", h.notification_count + 1 as "holdSequence",
      coalesce(i."expiresAt", h.expires_at) as "expiresAfter",
      case when i."authorizationId" is null then coalesce(i."guaranteedUntil", h.guaranteed_until)
        else i."guaranteedUntil" end as "guaranteedAfter"
    from input i join hold h on h.request_id = any (array[i."holdRequestId"])
    where ${versionOf('h')} = i.version for no key update of h skip locked
  ),
  on_itself as materialized (
    select i.*, false as "wasFrozen", null::int as "holdSequence", null::timestamptz as "expiresAfter",
      null::timestamptz as "guaranteedAfter"
    from input i join submission s on s.request_id = any (array[i."requestId"])
    where i."holdRequestId" is null for no key update of s skip locked
  ),
  locked as materialized (select * from on_hold union all select * from on_itself),
  changed as (
    update submission s set state = case when i.ok then 'OK' else 'KO' end, final_at = i.at, inquire_at = null,
      processor_reference = i."processorReference", bank_reference = i."bankReference",
      processor_code = i."processorCode", processor_message = i."processorMessage",
      amount_released = i."amountReleased", ${setCard('i')},
      status_after = i.status, amount_after = i.amount, expires_at_after = i."expiresAfter",
      guaranteed_until_after = i."guaranteedAfter",
      captured_after = i.captured, remaining_after = i.remaining, released_after = i.released,
      reversed_after = i.reversed, refunded_after = i.refunded,
      frozen_after = case when i.status is not null then i."wasFrozen" or i.contradiction is not null end
    from locked i
    where s.request_id = any (array[i."requestId"]) and s.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')
    returning s.request_id as subject_id, i.*
  ),
  booked as (
    update hold h set ${SET_BOOKS},
      frozen = h.frozen or c.contradiction is not null, frozen_because = ${becauseAlso(`(c.contradiction->>'freezes')`)},
      ended_as = coalesce(c."endedAs", h.ended_as), ended_amount = coalesce(c."endedAmount", h.ended_amount),
      capabilities = coalesce(c.capabilities, h.capabilities),
      expires_at = c."expiresAfter", guaranteed_until = c."guaranteedAfter",
      notify_expiring_at = case
        when ${TIMES_CHANGED} then ${NOTICE_AT}
        else h.notify_expiring_at end,
      first_expires_at = case when c."expiresAfter" <> h.expires_at then coalesce(h.first_expires_at, h.expires_at)
        else h.first_expires_at end,
      auto_capture_id = case when c.again then null else h.auto_capture_id end,
      renew_at = case when c."renewAt" is not null then nullif(c."renewAt", 'infinity')
        when c."authorizationId" is not null or ${TIMES_CHANGED} then ${RENEW_AT}
        else h.renew_at end,
      renewal_id = nullif(h.renewal_id, c.subject_id), authorization_id = coalesce(c."authorizationId", h.authorization_id),
      to_void = coalesce(c."toVoid", h.to_void),
      phase = case when c."failCode" is null then h.phase else 'FAILED' end,
      inquire_at = case when c."failCode" is null then h.inquire_at end,
      processor_code = coalesce(c."failCode", h.processor_code),
      processor_message = coalesce(c."failMessage", h.processor_message)
    from changed c
    where h.request_id = any (array[c."holdRequestId"])
  ),
  refunded as (
    update submission s set amount_refunded = s.amount_refunded + c."amountRefunded",
      amount_refunding = s.amount_refunding - c."amountReserved"
    from changed c where s.request_id = any (array[c."captureRequestId"])
  ),
  ${GIVE_ROOM_BACK},
  contradicted as (
    ${insertContradictions('changed')}
  ),
  ${APPEND_RESULTS}
  ${done()}`;
