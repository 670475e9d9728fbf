import type { AGAIN } from '../../../../platform/gather.ts';
import { byIndex } from '../by-index.ts';
import { camelCased } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { ReadHold } from '../hold/read-holds.ts';
import {
  type Booking,
  booksAsText,
  type Settled,
  type SubmissionResult,
  settlementOnHold,
  settleSubmissions,
} from '../operation/settle-submissions.ts';
import { type ReservationInput, reservation, type Stored, storeSubmissions } from '../operation/store-submissions.ts';

/** What is read before captures are judged: the hold, and whether the capture's requestId is taken. */
export interface CaptureSubject {
  readonly isKnown: boolean;
  readonly hold: ReadHold | undefined;
}

/** Reads the holds that captures name by the hash of their preauthorizationId. Answers in their order. */
export async function readCaptureSubjects(
  query: Query,
  captures: readonly { readonly requestId: string; readonly idHash: Buffer }[],
): Promise<CaptureSubject[]> {
  const values = [captures.map(({ requestId }) => requestId), captures.map(({ idHash }) => idHash)];
  const rows = await query<{ place: bigint; is_known: boolean; id_hash: Buffer | null }>(READ_SUBJECTS, values);
  const subjects = new Map(rows.map((row) => [Number(row.place) - 1, row]));
  return captures.map((_, place) => {
    const row = subjects.get(place);
    return { isKnown: row?.is_known ?? false, hold: row?.id_hash ? camelCased<ReadHold>(row) : undefined };
  });
}

const READ_SUBJECTS: Statement = {
  name: 'read-capture-subjects',
  text: `select i.place, exists (select from claim c where ${byIndex('c.request_id', 'i.asking')}) as is_known,
      h.xmin::text as version, h.*
    from unnest($1::uuid[], $2::bytea[]) with ordinality as i(asking, hash, place)
      left join hold h on ${byIndex('h.id_hash', 'i.hash')}`,
};

/** A capture whose amount is to be reserved. */
export interface CaptureInput extends ReservationInput {
  readonly finalCapture: boolean;
}

/** Reserves captures, each of another hold. */
export function reserveCaptures(query: Query, captures: readonly CaptureInput[]): Promise<(Stored | typeof AGAIN)[]> {
  return storeSubmissions(query, RESERVE_CAPTURES, captures);
}

const RESERVE_CAPTURES = reservation('reserve-captures', 'capture', {
  input: '"finalCapture" boolean',
  columns: 'state, final_capture, reversed',
  values: `'PENDING', "finalCapture", false`,
  room: 'h.remaining >= i.amount and not h.closing',
});

/** Reads the holds of captures that have no result yet, by the capture's requestId: both as of one moment. */
export async function readHoldsOfOpenCaptures(
  query: Query,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, ReadHold>> {
  const rows = await query<{ capture: string }>(HOLDS_OF_OPEN_CAPTURES, [requestIds]);
  return new Map(rows.map((row) => [row.capture, camelCased<ReadHold>(row)]));
}

const HOLDS_OF_OPEN_CAPTURES: Statement = {
  name: 'holds-of-open-captures',
  text: `select c.request_id as capture, h.xmin::text as version, h.*
    from capture c join hold h on ${byIndex('h.request_id', 'c.hold_request_id')}
    where c.request_id = any($1::uuid[]) and c.state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW')`,
};

/** How a capture ended. */
export interface CaptureResult extends SubmissionResult, Booking {
  readonly bankReference?: string | undefined;
}

/** Ends captures, each of another hold. */
export function settleCaptures(query: Query, results: readonly CaptureResult[]): Promise<Settled> {
  return settleSubmissions(query, SETTLE_CAPTURES, booksAsText(results));
}

const SETTLE_CAPTURES = settlementOnHold('settle-captures', 'capture', {
  input: '"bankReference" text',
  set: `state = case when i.ok then 'OK' else 'KO' end, bank_reference = i."bankReference",
      capture_date = case when i.ok then i.at end,
      remaining_after = case when i.ok then (i.books->>'remaining')::bigint end,
      released_after = case when i.ok then (i.books->>'released')::bigint end,
      status_after = case when i.ok then i.books->>'status' end`,
});
