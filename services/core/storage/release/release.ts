import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { HoldStatus } from '../../domain/hold.ts';
import type { SubmissionState } from '../../domain/kinds.ts';
import { readRow } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import { submissionColumns, submissionIndexes, submissionUniques } from '../operation/submission-columns.ts';

/**
 * One void, which gives back what remains of a hold: asked by the merchant (RELEASED), at the end of its period (EXPIRED), or
 * to void an authorization that arrived for a hold already failed (LATE, which moves no counter and makes no operation). What the processor
 * did by itself is one that was never sent (reported).
 */
export const ReleaseEntity = defineEntity({
  name: 'Release',
  tableName: 'release',
  properties: {
    ...submissionColumns(),
    holdRequestId: p.uuid(),
    reason: p.text().$type<'RELEASED' | 'EXPIRED' | 'LATE'>(),
    reported: p.boolean().default(false),
    state: p.text().$type<SubmissionState>(),
    /** What it gave back, as the processor said; null = it did not say, or the release is not OK. */
    amountReleased: p.bigint('bigint').nullable(),
    finalAt: p.datetime(3).nullable(),
    /** The hold right after it, so that a replayed answer is the first answer. */
    capturedAfter: p.bigint('bigint').nullable(),
    remainingAfter: p.bigint('bigint').nullable(),
    releasedAfter: p.bigint('bigint').nullable(),
    reversedAfter: p.bigint('bigint').nullable(),
    statusAfter: p.text().nullable().$type<HoldStatus>(),
    frozenAfter: p.boolean().nullable(),
  },
  checks: [
    { name: 'release_amount', expression: 'amount >= 0 and amount <= 999999999999' },
    { name: 'release_amount_released', expression: 'amount_released >= 0' },
    { name: 'release_reason', expression: "reason in ('RELEASED', 'EXPIRED', 'LATE')" },
    { name: 'release_state', expression: "state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')" },
  ],
  indexes: [{ name: 'release_by_hold', properties: ['holdRequestId', 'requestId'] }, ...submissionIndexes('release')],
  uniques: submissionUniques('release'),
});
export type ReleaseRow = InferEntity<typeof ReleaseEntity>;

/** Looks up a release. */
export function findRelease(query: Query, requestId: string): Promise<ReleaseRow | undefined> {
  return readRow<ReleaseRow>(query, FIND_RELEASE, [requestId]);
}

const FIND_RELEASE: Statement = { name: 'find-release', text: 'select * from release where request_id = $1' };

/** Whether the authorization of a failed hold is being given back, or was. */
export async function hasLateVoid(query: Query, holdRequestId: string): Promise<boolean> {
  return (await query(FIND_LATE_VOID, [holdRequestId])).length > 0;
}

const FIND_LATE_VOID: Statement = {
  name: 'find-late-void',
  text: `select request_id from release where hold_request_id = $1 and reason = 'LATE' and state <> 'KO'`,
};
