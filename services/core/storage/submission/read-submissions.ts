import type { SubmissionKind } from '../../domain/kinds.ts';
import { readRow, readRows } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { SubmissionRow } from './submission-row.ts';

/** Looks up a submission. */
export function findSubmission(query: Query, requestId: string): Promise<SubmissionRow | undefined> {
  return readRow<SubmissionRow>(query, FIND_SUBMISSION, [requestId]);
}

const FIND_SUBMISSION: Statement = {
  name: 'find-submission',
  text: 'select * from submission where request_id = $1',
};

/** Reads submissions by requestId. */
export function readSubmissions(query: Query, requestIds: readonly string[]): Promise<SubmissionRow[]> {
  return readRows<SubmissionRow>(query, READ_SUBMISSIONS, [requestIds]);
}

const READ_SUBMISSIONS: Statement = {
  name: 'read-submissions',
  text: 'select * from submission where request_id = any($1::uuid[])',
};

/** Reads the newest captures of a hold, oldest first. */
export async function newestCaptures(query: Query, holdRequestId: string, most: number): Promise<SubmissionRow[]> {
  return (await readRows<SubmissionRow>(query, NEWEST_CAPTURES, [holdRequestId, most])).reverse();
}

const NEWEST_CAPTURES: Statement = {
  name: 'newest-captures',
  text: `select * from submission where hold_request_id = $1 and kind = 'CAPTURE' order by request_id desc limit $2`,
};

/** Lists the captures of a hold, oldest first. */
export function listCaptures(query: Query, holdRequestId: string): Promise<SubmissionRow[]> {
  return readRows<SubmissionRow>(query, LIST_CAPTURES, [holdRequestId]);
}

const LIST_CAPTURES: Statement = {
  name: 'list-captures',
  text: `select * from submission where hold_request_id = $1 and kind = 'CAPTURE' order by request_id`,
};

/** Whether the authorization of a failed hold is being given back, or was. */
export async function hasLateVoid(query: Query, holdRequestId: string): Promise<boolean> {
  return (await query(FIND_LATE_VOID, [holdRequestId])).length > 0;
}

const FIND_LATE_VOID: Statement = {
  name: 'find-late-void',
  text: `select request_id from submission where hold_request_id = $1 and kind = 'LATE_VOID' and state <> 'KO'`,
};

/** Counts the submissions of one kind that a hold has lost on their way to the processor. */
export async function countLost(
  query: Query,
  holdRequestId: string | null | undefined,
  kind: SubmissionKind,
): Promise<number> {
  const [row] = await query<{ count: bigint }>(COUNT_LOST, [holdRequestId, kind]);
  return Number(row?.count ?? 0n);
}

const COUNT_LOST: Statement = {
  name: 'count-lost',
  text: `select count(*) from submission
    where hold_request_id = $1 and kind = $2 and state = 'KO' and processor_code = 'never_received'`,
};
