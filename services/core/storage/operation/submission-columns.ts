import { p } from '@mikro-orm/core';

/** Columns of each table of what is sent to a processor: submissions. */
export function submissionColumns() {
  return {
    requestId: p.uuid().primary(),
    merchantId: p.text(),
    /** Minor units; of a release, what it reserved. */
    amount: p.bigint('bigint'),
    currency: p.text(),
    processorReference: p.text().nullable(),
    processorCode: p.text().nullable(),
    processorMessage: p.text().nullable(),
    createdAt: p.datetime(3),
    /** When recovery looks at it next, while its outcome is open. */
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
  };
}

/** Indexes over these columns. `inReview` is an SQL condition: what comes to needs review. */
export function submissionIndexes(table: string, inReview = "state in ('UNKNOWN', 'NEEDS_REVIEW')") {
  return [
    { name: `${table}_to_inquire`, properties: ['inquireAt' as const], where: 'inquire_at is not null' },
    { name: `${table}_in_review`, properties: ['requestId' as const], where: inReview },
  ];
}

/** The same for `uniques`. */
export function submissionUniques(table: string) {
  return [
    {
      name: `${table}_by_processor_request_id`,
      properties: ['processorRequestId' as const, 'processor' as const],
      where: 'processor_request_id is not null',
    },
  ];
}
