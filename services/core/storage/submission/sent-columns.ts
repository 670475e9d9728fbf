import { p } from '@mikro-orm/core';

/** Columns of both tables of operations sent to a processor: holds and submissions. */
export function sentColumns() {
  return {
    requestId: p.uuid().primary(),
    merchantId: p.text(),
    /** Minor units; of a release or expiry, what it reserved. */
    amount: p.bigint('bigint'),
    currency: p.text(),
    /** A name of PROCESSORS, and the merchant's account there; an empty account = the processor's own default. */
    processor: p.text(),
    processorAccount: p.text(),
    /** Its identifier there; null = the requestId. */
    processorRequestId: p.uuid().nullable(),
    createdAt: p.datetime(3),
    /** When recovery looks at it next, while its outcome is open. */
    inquireAt: p.datetime(3).nullable(),
    inquiryCount: p.integer(),
    /** Until when it is normal that an accepted request has no result; null = it was not accepted, or not known. */
    expectedBy: p.datetime(3).nullable(),
    processorReference: p.text().nullable(),
    processorCode: p.text().nullable(),
    processorMessage: p.text().nullable(),
  };
}

/** Columns of a card and of its authorization, as far as they may be known. */
export function cardColumns() {
  return {
    cardBrand: p.text().nullable(),
    cardLast4: p.text().nullable(),
    cardExpiryMonth: p.integer().nullable(),
    cardExpiryYear: p.integer().nullable(),
    cardFunding: p.text().nullable(),
    cardThreeDSecure: p.text().name('card_three_d_secure').nullable(),
    cardDeclineCode: p.text().nullable(),
  };
}
