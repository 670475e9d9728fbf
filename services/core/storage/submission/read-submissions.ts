import type { SubmissionKind } from '../../domain/kinds.ts';
import { type Query, sql } from '../database.ts';
import type { SubmissionRow } from './submission-row.ts';

/** Looks up a submission. */
export async function findSubmission(query: Query, requestId: string): Promise<SubmissionRow | undefined> {
  return (await readSubmissions(query, [requestId]))[0];
}

/** Reads submissions by requestId. */
export function readSubmissions(query: Query, requestIds: readonly string[]): Promise<SubmissionRow[]> {
  return query<SubmissionRow>(READ_SUBMISSIONS, [requestIds]);
}

const READ_SUBMISSIONS = sql('read-submissions')`select * from submission where request_id = any($1::uuid[])`;

/** Reads the newest captures of a hold, at most `most`; absent = all. The oldest comes first. */
export async function readCaptures(query: Query, holdRequestId: string, most?: number): Promise<SubmissionRow[]> {
  return (await query<SubmissionRow>(READ_CAPTURES, [holdRequestId, most])).reverse();
}

const READ_CAPTURES = sql('read-captures')`select * from submission
    where hold_request_id = $1 and kind = 'CAPTURE' order by request_id desc limit $2`;

/** A renewal that replaced an authorization, and when that one was given back. */
export type Replacing = Pick<SubmissionRow, 'processorReference' | 'finalAt' | 'guaranteedUntilAfter'> & {
  readonly gaveBackAt: Date | null;
};

/** Reads the renewals that replaced authorizations of a hold. The oldest comes first. */
export function readRenewals(query: Query, holdRequestId: string): Promise<Replacing[]> {
  return query<Replacing>(READ_RENEWALS, [holdRequestId]);
}

const READ_RENEWALS = sql('read-renewals')`select r.processor_reference, r.final_at, r.guaranteed_until_after,
      (select min(v.final_at) from submission v where v.hold_request_id = $1 and v.kind = 'LATE_VOID' and v.state = 'OK'
        and v.authorization_id is not distinct from r.authorization_id) as gave_back_at
    from submission r where r.hold_request_id = $1 and r.kind = 'RENEWAL' and r.state = 'OK' order by r.request_id`;

/** Reads the identifiers at the processor of all authorizations of a hold. */
export async function readAuthorizations(query: Query, holdRequestId: string): Promise<string[]> {
  const rows = await query<{ identifier: string }>(READ_AUTHORIZATIONS, [holdRequestId]);
  return rows.map(({ identifier }) => identifier);
}

const READ_AUTHORIZATIONS = sql('read-authorizations')`select coalesce(processor_request_id, request_id) as identifier
    from hold where request_id = $1
    union all select coalesce(processor_request_id, request_id) from submission
    where hold_request_id = $1 and kind = 'RENEWAL'`;

/** An authorization of a hold, by the requestId of the hold or of a RENEWAL, and a void of it to leave out. */
interface OfAuthorization {
  readonly holdRequestId: string;
  readonly authorization: string;
  readonly lost: string | undefined;
}

/** Returns whether another void than `lost` gives or gave back an authorization that its hold does not count on. */
export async function hasLateVoid(query: Query, { holdRequestId, authorization, lost }: OfAuthorization) {
  return (await query(FIND_LATE_VOID, [holdRequestId, authorization, lost])).length > 0;
}

const FIND_LATE_VOID = sql('find-late-void')`select request_id from submission
    where hold_request_id = $1 and kind = 'LATE_VOID' and coalesce(authorization_id, hold_request_id) = $2
      and state <> 'KO' and request_id is distinct from $3`;

/** What may be lost on its way to the processor: of a kind, about an authorization. */
interface MaybeLost {
  readonly kind: SubmissionKind;
  readonly holdRequestId?: string | null | undefined;
  readonly authorizationId?: string | null | undefined;
}

/** Counts the submissions of one kind about one authorization that were lost on their way to the processor. */
export async function countLost(query: Query, { holdRequestId, authorizationId, kind }: MaybeLost): Promise<number> {
  const [row] = await query<{ count: bigint }>(COUNT_LOST, [holdRequestId, kind, authorizationId]);
  return Number(row?.count ?? 0n);
}

/** The amount that a hold gave back while it stayed open, minor units. */
export async function releasedInParts(query: Query, holdRequestId: string): Promise<bigint> {
  const [row] = await query<{ amount: bigint }>(RELEASED_IN_PARTS, [holdRequestId]);
  return row?.amount ?? 0n;
}

const RELEASED_IN_PARTS = sql('released-in-parts')`select coalesce(sum(amount), 0)::bigint as amount from submission
    where hold_request_id = $1 and kind = 'PARTIAL_RELEASE' and state = 'OK'`;

const COUNT_LOST = sql('count-lost')`select count(*) from submission
    where hold_request_id = $1 and kind = $2 and authorization_id is not distinct from $3
      and state = 'KO' and processor_code = 'never_received'`;
