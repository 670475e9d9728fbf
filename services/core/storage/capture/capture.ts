import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { HoldStatus } from '../../domain/hold.ts';
import type { SubmissionState } from '../../domain/kinds.ts';

/** One capture of a hold. The three columns *After are the hold right after it, so that a replayed answer is the first answer. */
export const CaptureEntity = defineEntity({
  name: 'Capture',
  tableName: 'capture',
  properties: {
    requestId: p.uuid().primary(),
    holdRequestId: p.uuid(),
    merchantId: p.text(),
    state: p.text().$type<SubmissionState>(),
    amount: p.bigint('bigint'),
    currency: p.text(),
    finalCapture: p.boolean(),
    captureDate: p.datetime(3).nullable(),
    bankReference: p.text().nullable(),
    processorReference: p.text().nullable(),
    processorCode: p.text().nullable(),
    processorMessage: p.text().nullable(),
    remainingAfter: p.bigint('bigint').nullable(),
    releasedAfter: p.bigint('bigint').nullable(),
    statusAfter: p.text().nullable().$type<HoldStatus>(),
    /** All of it was taken back. */
    reversed: p.boolean(),
    /** What the card scheme took back of it and did not give again; 0 where a version before this column marked all of it as reversed. */
    amountReversed: p.bigint('bigint').defaultRaw('0'),
    createdAt: p.datetime(3),
    inquireAt: p.datetime(3).nullable(),
    inquiryCount: p.integer(),
    /** Until when it is normal that an accepted request has no result; null = it was not accepted, or the processor did not say. */
    expectedBy: p.datetime(3).nullable(),
    /** Where it was sent: a name of PROCESSORS, and the merchant's account there. Empty = the default one. */
    processor: p.text().default(''),
    processorAccount: p.text().default(''),
    /** Its identifier there; null = the requestId. */
    processorRequestId: p.uuid().nullable(),
    /** It was lost by a restore, and imported from the processor's books. */
    imported: p.boolean().default(false),
  },
  checks: [
    { name: 'capture_amount', expression: 'amount >= 1 and amount <= 999999999999' },
    { name: 'capture_state', expression: "state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')" },
    { name: 'capture_ok_has_date', expression: "(state = 'OK') = (capture_date is not null)" },
    { name: 'capture_reversed_was_ok', expression: "not reversed or state = 'OK'" },
    { name: 'capture_amount_reversed', expression: 'amount_reversed >= 0 and amount_reversed <= amount' },
    { name: 'capture_amount_reversed_was_ok', expression: "amount_reversed = 0 or state = 'OK'" },
  ],
  indexes: [
    {
      name: 'capture_by_hold',
      expression: 'create index "capture_by_hold" on "capture" ("hold_request_id", "request_id")',
    },
    {
      name: 'capture_to_inquire',
      expression: 'create index "capture_to_inquire" on "capture" ("inquire_at") where inquire_at is not null',
    },
    {
      name: 'capture_in_review',
      expression: `create index "capture_in_review" on "capture" ("request_id") where state in ('UNKNOWN', 'NEEDS_REVIEW')`,
    },
    {
      name: 'capture_by_processor_request_id',
      expression:
        'create unique index "capture_by_processor_request_id" on "capture" ("processor_request_id") where processor_request_id is not null',
    },
  ],
});
/** SQL: what of a capture was taken back and not given again, as amountReversedOf() in domain/hold.ts. */
export function sqlOfAmountReversed(row: string): string {
  return `case when ${row}.reversed then ${row}.amount else ${row}.amount_reversed end`;
}

export type CaptureRow = InferEntity<typeof CaptureEntity>;
