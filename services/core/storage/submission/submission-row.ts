import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { HoldStatus } from '../../domain/hold.ts';
import type { SubmissionKind, SubmissionState } from '../../domain/kinds.ts';
import { cardColumns, sentColumns, sentIndexes, sentUniques } from './sent-columns.ts';

/**
 * What was sent to a processor, besides the placing of holds: captures, releases, OCTs and whatever kind there is. It
 * is stored before it is sent, and ends once. What only some kinds have is null for the others, as the CHECK
 * constraints say.
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
    /** Of a refund: the capture that it gives back. */
    captureRequestId: p.uuid().nullable(),
    /** Of a capture: whether it closes the hold. */
    finalCapture: p.boolean().nullable(),
    /** Of a capture: what the card scheme took back of it and did not give again. */
    amountReversed: p.bigint('bigint').nullable(),
    /** Of a capture: what refunds gave back of it, and what refunds without a result have reserved of it. */
    amountRefunded: p.bigint('bigint').nullable(),
    amountRefunding: p.bigint('bigint').nullable(),
    /** Of a void: what it gave back, as the processor said; null = it did not say, or it is not OK. */
    amountReleased: p.bigint('bigint').nullable(),
    /** Of a void: the processor did it by itself, and nothing was sent. */
    reported: p.boolean().default(false),
    /** Of an OCT; the others have those of their hold. */
    terminalId: p.text().nullable(),
    userId: p.text().nullable(),
    tokenId: p.text().nullable(),
    merchantReference: p.text().nullable(),
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
  },
  checks: [
    {
      name: 'submission_kind',
      expression: "kind in ('CAPTURE', 'RELEASE', 'EXPIRY', 'LATE_VOID', 'OCT', 'INCREMENT', 'EXTENSION', 'REFUND')",
    },
    { name: 'submission_state', expression: "state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')" },
    {
      name: 'submission_amount',
      expression:
        "amount >= 0 and amount <= 999999999999 and (amount >= 1 or kind in ('RELEASE', 'EXPIRY', 'LATE_VOID', " +
        "'EXTENSION'))",
    },
    { name: 'submission_final_has_date', expression: "(state in ('OK', 'KO')) = (final_at is not null)" },
    { name: 'submission_of_hold', expression: "(kind = 'OCT') = (hold_request_id is null)" },
    { name: 'submission_of_capture', expression: "(kind = 'REFUND') = (capture_request_id is not null)" },
    {
      name: 'submission_capture',
      expression:
        "(kind = 'CAPTURE') = (final_capture is not null) and (kind = 'CAPTURE') = (amount_reversed is not null) and " +
        "(kind = 'CAPTURE') = (amount_refunded is not null) and (kind = 'CAPTURE') = (amount_refunding is not null)",
    },
    {
      name: 'submission_taken_back',
      expression:
        'amount_reversed >= 0 and amount_refunded >= 0 and amount_refunding >= 0 and amount_reversed + ' +
        'amount_refunded + amount_refunding <= amount',
    },
    {
      name: 'submission_taken_back_was_ok',
      expression: "amount_reversed + amount_refunded + amount_refunding = 0 or state = 'OK'",
    },
    {
      name: 'submission_amount_released',
      expression: "amount_released is null or (amount_released >= 0 and kind in ('RELEASE', 'EXPIRY', 'LATE_VOID'))",
    },
    { name: 'submission_reported', expression: "not reported or kind in ('RELEASE', 'EXPIRY')" },
    {
      name: 'submission_oct',
      expression: "kind <> 'OCT' or (terminal_id is not null and user_id is not null and token_id is not null)",
    },
    { name: 'submission_after', expression: 'status_after is null or hold_request_id is not null' },
  ],
  indexes: [
    {
      name: 'submission_by_hold',
      properties: ['holdRequestId'],
      where: 'hold_request_id is not null',
    },
    ...sentIndexes('submission', "state in ('UNKNOWN', 'NEEDS_REVIEW')"),
  ],
  uniques: sentUniques('submission'),
});
export type SubmissionRow = InferEntity<typeof SubmissionEntity>;
