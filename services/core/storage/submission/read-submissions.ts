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

/** Returns whether another void than `lost` gives or gave back the authorization of a failed hold. */
export async function hasLateVoid(query: Query, holdRequestId: string, lost: string | undefined): Promise<boolean> {
  return (await query(FIND_LATE_VOID, [holdRequestId, lost])).length > 0;
}

const FIND_LATE_VOID = sql('find-late-void')`select request_id from submission
    where hold_request_id = $1 and kind = 'LATE_VOID' and state <> 'KO' and request_id is distinct from $2`;

/** Counts the submissions of one kind that a hold has lost on their way to the processor. */
export async function countLost(query: Query, holdRequestId: string | null | undefined, kind: SubmissionKind) {
  const [row] = await query<{ count: bigint }>(COUNT_LOST, [holdRequestId, kind]);
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
    where hold_request_id = $1 and kind = $2 and state = 'KO' and processor_code = 'never_received'`;
