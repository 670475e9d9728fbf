import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SubmissionState } from '../../domain/kinds.ts';

/**
 * One void, which gives back what remains of a hold: asked by the merchant (RELEASED), at the end of its period (EXPIRED), or
 * to void an authorization that arrived for a hold already failed (LATE, which moves no counter and makes no operation). What the processor
 * did by itself is one that was never sent (reported).
 */
export const ReleaseEntity = defineEntity({
  name: 'Release',
  tableName: 'release',
  properties: {
    requestId: p.uuid().primary(),
    holdRequestId: p.uuid(),
    merchantId: p.text(),
    reason: p.text().$type<'RELEASED' | 'EXPIRED' | 'LATE'>(),
    reported: p.boolean().default(false),
    state: p.text().$type<SubmissionState>(),
    /** What it reserved. */
    amount: p.bigint('bigint'),
    /** What it gave back, as the processor said; null = it did not say, or the release is not OK. */
    amountReleased: p.bigint('bigint').nullable(),
    currency: p.text(),
    processorReference: p.text().nullable(),
    processorCode: p.text().nullable(),
    processorMessage: p.text().nullable(),
    createdAt: p.datetime(3),
    finalAt: p.datetime(3).nullable(),
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
    { name: 'release_amount', expression: 'amount >= 0 and amount <= 999999999999' },
    { name: 'release_amount_released', expression: 'amount_released >= 0' },
    { name: 'release_reason', expression: "reason in ('RELEASED', 'EXPIRED', 'LATE')" },
    { name: 'release_state', expression: "state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')" },
  ],
  indexes: [
    {
      name: 'release_by_hold',
      expression: 'create index "release_by_hold" on "release" ("hold_request_id", "request_id")',
    },
    {
      name: 'release_to_inquire',
      expression: 'create index "release_to_inquire" on "release" ("inquire_at") where inquire_at is not null',
    },
    {
      name: 'release_in_review',
      expression: `create index "release_in_review" on "release" ("request_id") where state in ('UNKNOWN', 'NEEDS_REVIEW')`,
    },
    {
      name: 'release_by_processor_request_id',
      expression:
        'create unique index "release_by_processor_request_id" on "release" ("processor_request_id") where processor_request_id is not null',
    },
  ],
});
export type ReleaseRow = InferEntity<typeof ReleaseEntity>;
