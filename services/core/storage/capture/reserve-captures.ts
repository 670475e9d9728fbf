import { AGAIN } from '../../../../platform/gather.ts';
import { byIndex } from '../by-index.ts';
import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import { LOCK_UNCHANGED_HOLDS, type ReadHold } from '../hold/read-holds.ts';
import { claimKeys, type KeyInput } from '../idempotency-key/idempotency-key.ts';
import { sentUnderKey } from '../idempotency-key/key-identifier.ts';
import { isKnownRequest, type NotStored, type Stored } from '../operation/known-request.ts';

/** What is read before captures are judged: the hold, and whether the capture's requestId is taken. */
export interface CaptureSubject {
  readonly requestId: string;
  readonly isKnown: boolean;
  /** The identifier at the processor of a capture that is known; null = its requestId. */
  readonly processorRequestId: string | null;
  readonly hold: ReadHold | undefined;
}

/** Reads the holds that captures name by the hash of their preauthorizationId. Answers in their order. */
export async function readCaptureSubjects(
  query: Query,
  captures: readonly { readonly requestId: string; readonly idHash: Buffer }[],
): Promise<CaptureSubject[]> {
  const values = [captures.map(({ requestId }) => requestId), captures.map(({ idHash }) => idHash)];
  const rows = await query<{ asking: string; is_known: boolean; sent_as: string | null; id_hash: Buffer | null }>(
    READ_SUBJECTS,
    values,
  );
  const subjects = new Map(rows.map((row) => [row.asking, row]));
  return captures.map(({ requestId }) => {
    const row = subjects.get(requestId);
    return {
      requestId,
      isKnown: row?.is_known ?? false,
      processorRequestId: row?.sent_as ?? null,
      hold: row?.id_hash ? camelCased<ReadHold>(row) : undefined,
    };
  });
}

const READ_SUBJECTS: Statement = {
  name: 'read-capture-subjects',
  text: `select i.asking, ${isKnownRequest('i.asking')} as is_known,
      (select k.processor_request_id from capture k where ${byIndex('k.request_id', 'i.asking')}) as sent_as, h.xmin::text as version, h.*
    from unnest($1::uuid[], $2::bytea[]) as i(asking, hash) left join hold h on ${byIndex('h.id_hash', 'i.hash')}`,
};

/** A capture whose amount is to be reserved. */
export interface CaptureInput {
  readonly requestId: string;
  readonly holdRequestId: string;
  readonly merchantId: string;
  /** Minor units. */
  readonly amount: string;
  readonly currency: string;
  readonly finalCapture: boolean;
  /** Whether nothing else may be captured until this one has its result. */
  readonly closing: boolean;
  /** Of the hold. */
  readonly processor: string;
  readonly processorAccount: string;
  /** Its identifier there; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly createdAt: string;
  readonly inquireAt: string;
  /** The hold's, as it was judged. */
  readonly version: string;
  /** RFC 3339, by PostgreSQL's clock; after it nothing is stored. */
  readonly deadline?: string | undefined;
  readonly key?: KeyInput | undefined;
}

/**
 * Reserves captures, each of another hold: the statement itself refuses what the hold no longer has, what comes under a key that is
 * taken, and what is too late. Answers, for each, what became of it; AGAIN = the hold is locked or has changed, judge it again.
 */
export async function reserveCaptures(
  query: Query,
  captures: readonly CaptureInput[],
): Promise<(Stored<'RESERVED'> | typeof AGAIN)[]> {
  const rows = await query<OutcomeRow>(RESERVE_CAPTURES, [JSON.stringify(captures)]);
  const outcomes = new Map(rows.map((row) => [row.id, row]));
  return captures.map(({ requestId }) => {
    const row = outcomes.get(requestId);
    if (row === undefined || row.outcome === AGAIN) return AGAIN;
    return { outcome: row.outcome, processorRequestId: row.sent_as };
  });
}

interface OutcomeRow {
  readonly id: string;
  readonly outcome: 'RESERVED' | typeof AGAIN | NotStored;
  readonly sent_as: string | null;
}

const RESERVE_CAPTURES: Statement = {
  name: 'reserve-captures',
  text: `with input as materialized (
    select i.*, coalesce(i.deadline <= clock_timestamp(), false) as late, sent.*
    from json_to_recordset($1::json) as i("requestId" uuid, "holdRequestId" uuid, "merchantId" text,
      amount bigint, currency text, "finalCapture" boolean, closing boolean, "createdAt" timestamptz,
      "inquireAt" timestamptz, version xid, deadline timestamptz, key json, processor text, "processorAccount" text,
      "processorRequestId" uuid, imported boolean)
    ${sentUnderKey('capture')}
  ),
  ${LOCK_UNCHANGED_HOLDS},
  admissible as materialized (
    select * from locked where not late and not met
  ),
  ${claimKeys('admissible')},
  changed as (
    update hold h set remaining = h.remaining - i.amount, in_flight = h.in_flight + i.amount, closing = i.closing
    from admissible i
    where ${byIndex('h.request_id', 'i."holdRequestId"')} and h.remaining >= i.amount and not h.closing
      and (i.key is null or i."requestId" in (select request_id from claimed))
    returning i."requestId" as subject_id
  ),
  reserved as (
    insert into capture (request_id, hold_request_id, merchant_id, state, amount, currency, final_capture, reversed,
      created_at, inquire_at, inquiry_count, processor, processor_account,
      processor_request_id, imported)
    select "requestId", "holdRequestId", "merchantId", 'PENDING', amount, currency, "finalCapture", false, "createdAt",
      "inquireAt", 0, processor, "processorAccount", "sentAs", coalesce(imported, false)
    from admissible where "requestId" in (select subject_id from changed)
    returning request_id
  )
  select i."requestId"::text as id, i."sentAs" as sent_as, case
    when i."requestId" in (select request_id from reserved) then 'RESERVED'
    when i.late then 'LATE'
    when i.met or i."requestId" in (select "requestId" from admissible where key is not null) then 'KEY_TAKEN'
    else 'AGAIN' end as outcome
  from input i`,
};
