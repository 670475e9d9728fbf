import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SubmissionState } from '../../domain/kinds.ts';

/** One original credit transaction: a payment to a card. */
export const OctEntity = defineEntity({
  name: 'Oct',
  tableName: 'oct',
  properties: {
    requestId: p.uuid().primary(),
    merchantId: p.text(),
    terminalId: p.text(),
    userId: p.text(),
    tokenId: p.text(),
    state: p.text().$type<SubmissionState>(),
    amount: p.bigint('bigint'),
    currency: p.text(),
    merchantReference: p.text().nullable(),
    cardBrand: p.text().nullable(),
    cardLast4: p.text().nullable(),
    cardExpiryMonth: p.integer().nullable(),
    cardExpiryYear: p.integer().nullable(),
    processorReference: p.text().nullable(),
    bankReference: p.text().nullable(),
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
    { name: 'oct_amount', expression: 'amount >= 1 and amount <= 999999999999' },
    { name: 'oct_state', expression: "state in ('PENDING', 'UNKNOWN', 'NEEDS_REVIEW', 'OK', 'KO')" },
    { name: 'oct_final_has_date', expression: "(state in ('OK', 'KO')) = (final_at is not null)" },
  ],
  indexes: [
    {
      name: 'oct_to_inquire',
      expression: 'create index "oct_to_inquire" on "oct" ("inquire_at") where inquire_at is not null',
    },
    {
      name: 'oct_in_review',
      expression: `create index "oct_in_review" on "oct" ("request_id") where state in ('UNKNOWN', 'NEEDS_REVIEW')`,
    },
    {
      name: 'oct_by_processor_request_id',
      expression:
        'create unique index "oct_by_processor_request_id" on "oct" ("processor_request_id") where processor_request_id is not null',
    },
  ],
});
export type OctRow = InferEntity<typeof OctEntity>;
