import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { HoldStatus } from '../../domain/hold-rules.ts';
import type { SubmissionKind, SubmissionState } from '../../domain/kinds.ts';
import type { AskedTerms } from '../hold/hold-row.ts';
import { cardColumns, sentColumns } from './sent-columns.ts';

/**
 * An operation sent to a processor other than the placing of a hold: capture, release, OCT and so on. It is stored
 * before it is sent, and ends once. Columns of some kinds only are null for the others, as the CHECK constraints say.
 */
export const SubmissionEntity = defineEntity({
  name: 'Submission',
  tableName: 'submission',
  properties: {
    ...sentColumns(),
    kind: p.text().$type<SubmissionKind>(),
    state: p.text().$type<SubmissionState>(),
    finalAt: p.datetime(3).nullable(),
    bankReference: p.text().nullable(),
    /** The hold whose books it changes; null = it has none. */
    holdRequestId: p.uuid().nullable(),
    /**
     * The RENEWAL whose authorization it is on; null = the placing of its hold. Of a RENEWAL, the authorization before;
     * of a LATE_VOID, the one that it gives back.
     */
    authorizationId: p.uuid().nullable(),
    /** Of a refund: the capture that it gives back. */
    captureRequestId: p.uuid().nullable(),
    /** Of a capture: whether it closes the hold. */
    finalCapture: p.boolean().nullable(),
    /** Of a capture: what the card scheme took back of it and did not give again. */
    amountReversed: p.bigint('bigint').nullable(),
    /** Of a capture: what refunds gave back of it, and what refunds without a result have reserved of it. */
    amountRefunded: p.bigint('bigint').nullable(),
    amountRefunding: p.bigint('bigint').nullable(),
    /** Of a refund or an OCT: what the bank gave back of it. */
    amountReturned: p.bigint('bigint').defaultRaw('0'),
    /** The result that it had first, if it was corrected since; null = it was not. */
    firstState: p.text().nullable().$type<'OK' | 'KO'>(),
    /**
     * Of a void: what it gave back, as the processor said; null = it did not say, or it is not OK. Of a capture that was
     * corrected after a renewal had replaced its authorization: what it left to the void of that one.
     */
    amountReleased: p.bigint('bigint').nullable(),
    /** Of a void: the processor did it by itself, and nothing was sent. */
    reported: p.boolean().default(false),
    /** Of an OCT; the others have those of their hold. */
    terminalId: p.text().nullable(),
    userId: p.text().nullable(),
    tokenId: p.text().nullable(),
    /** The day (UTC) of whose limit it takes room; null = the merchant had no such limit. */
    countedOn: p.date().nullable(),
    /** The merchant's own reference; null = that of the hold. */
    merchantReference: p.text().nullable(),
    metadata: p.json().nullable().$type<Record<string, string>>(),
    reason: p.text().nullable(),
    ...cardColumns(),
    /** The hold right after it, so that a replayed answer is the first answer. */
    statusAfter: p.text().nullable().$type<HoldStatus>(),
    amountAfter: p.bigint('bigint').nullable(),
    capturedAfter: p.bigint('bigint').nullable(),
    remainingAfter: p.bigint('bigint').nullable(),
    releasedAfter: p.bigint('bigint').nullable(),
    reversedAfter: p.bigint('bigint').nullable(),
    refundedAfter: p.bigint('bigint').nullable(),
    frozenAfter: p.boolean().nullable(),
    expiresAtAfter: p.datetime(3).nullable(),
    guaranteedUntilAfter: p.datetime(3).nullable(),
    /** The hold's terms then; null = they have not changed since, or it answers nothing about them. */
    termsAfter: p.json().nullable().$type<AskedTerms>(),
  },
});
export type SubmissionRow = InferEntity<typeof SubmissionEntity>;
