import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { HoldStatus } from '../../domain/hold.ts';
import type { SubmissionState } from '../../domain/kinds.ts';
import { readRow, readRows } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import { submissionColumns, submissionIndexes, submissionUniques } from '../operation/submission-columns.ts';

/** One capture of a hold. The three columns *After are the hold right after it, so that a replayed answer is the first answer. */
export const CaptureEntity = defineEntity({
  name: 'Capture',
  tableName: 'capture',
  properties: {
    ...submissionColumns(),
    holdRequestId: p.uuid(),
    state: p.text().$type<SubmissionState>(),
    finalCapture: p.boolean(),
    captureDate: p.datetime(3).nullable(),
    bankReference: p.text().nullable(),
    remainingAfter: p.bigint('bigint').nullable(),
    releasedAfter: p.bigint('bigint').nullable(),
    statusAfter: p.text().nullable().$type<HoldStatus>(),
    /** All of it was taken back. */
    reversed: p.boolean(),
    /** What the card scheme took back of it and did not give again; 0 where a version before this column marked all of it as reversed. */
    amountReversed: p.bigint('bigint').defaultRaw('0'),
  },
  checks: [
    { name: 'capture_amount', expression: 'amount >= 1 and amount <= 999999999999' },
    { name: 'capture_state', expression: "state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')" },
    { name: 'capture_ok_has_date', expression: "(state = 'OK') = (capture_date is not null)" },
    { name: 'capture_reversed_was_ok', expression: "not reversed or state = 'OK'" },
    { name: 'capture_amount_reversed', expression: 'amount_reversed >= 0 and amount_reversed <= amount' },
    { name: 'capture_amount_reversed_was_ok', expression: "amount_reversed = 0 or state = 'OK'" },
  ],
  indexes: [{ name: 'capture_by_hold', properties: ['holdRequestId', 'requestId'] }, ...submissionIndexes('capture')],
  uniques: submissionUniques('capture'),
});
export type CaptureRow = InferEntity<typeof CaptureEntity>;

/** SQL: what of a capture was taken back and not given again, as amountReversedOf() in domain/hold.ts. */
export function sqlOfAmountReversed(row: string): string {
  return `case when ${row}.reversed then ${row}.amount else ${row}.amount_reversed end`;
}

/** Looks up a capture. */
export function findCapture(query: Query, requestId: string): Promise<CaptureRow | undefined> {
  return readRow<CaptureRow>(query, FIND_CAPTURE, [requestId]);
}

const FIND_CAPTURE: Statement = { name: 'find-capture', text: 'select * from capture where request_id = $1' };

/** Reads the newest captures of a hold, oldest first. */
export async function newestCaptures(query: Query, holdRequestId: string, most: number): Promise<CaptureRow[]> {
  return (await readRows<CaptureRow>(query, NEWEST_CAPTURES, [holdRequestId, most])).reverse();
}

const NEWEST_CAPTURES: Statement = {
  name: 'newest-captures',
  text: 'select * from capture where hold_request_id = $1 order by request_id desc limit $2',
};

/** Lists the captures of a hold, oldest first. */
export function listCaptures(query: Query, holdRequestId: string): Promise<CaptureRow[]> {
  return readRows<CaptureRow>(query, LIST_CAPTURES, [holdRequestId]);
}

const LIST_CAPTURES: Statement = {
  name: 'list-captures',
  text: 'select * from capture where hold_request_id = $1 order by request_id',
};
