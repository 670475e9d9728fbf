import { z } from 'zod';
import * as answers from '../../rest/schema/answer-fields.ts';
import { page, text } from '../../rest/schema/fields.ts';
import { Operation } from '../../rest/schema/operation.ts';
import { merchantId } from './fields.ts';

const reason = z
  .enum(['UNKNOWN', 'NEEDS_REVIEW', 'FROZEN'])
  .meta({ description: 'Inquiries go on; only an operator can tell; or a frozen hold' });

/** Query of GET /operator/reviews. */
export const ListReviewsQuery = z
  .strictObject({ merchantId: merchantId.optional(), reason: reason.optional(), ...page })
  .meta({ id: 'ListReviews' });

/** Body of POST /operator/reviews/{requestId}/resolve. */
export const ResolveBody = z
  .strictObject({
    outcome: z.enum(['OK', 'KO']).meta({ description: 'How the attempt ended; absent = only unfreeze' }).optional(),
    reason: text(500).meta({ description: 'How the operator knows; kept in the audit log' }),
    processorReference: text(64).meta({ description: 'With OK' }).optional(),
    bankReference: text(64).meta({ description: 'With OK' }).optional(),
    processorCode: text(64).meta({ description: 'With KO' }).optional(),
    processorMessage: text(500).meta({ description: 'With KO' }).optional(),
    unfenced: z
      .boolean()
      .meta({ description: 'Decide although the processor does not answer; it may perform the operation yet' })
      .optional(),
    unfreezeHold: z.boolean().meta({ description: 'The hold may be captured again' }).optional(),
  })
  .refine(({ outcome, unfreezeHold }) => outcome !== undefined || unfreezeHold === true, {
    path: ['outcome'],
    error: 'say how it ended, or that the hold is to be unfrozen',
  })
  .meta({ id: 'Resolve', description: 'Decides what no machine may guess' });

/** An attempt without a known outcome, or a frozen hold. */
export const ReviewItem = z
  .object({
    requestId: answers.requestId,
    reason,
    operation: z.enum(['HOLD', 'CAPTURE', 'RELEASE', 'EXPIRY', 'OCT']),
    merchantId,
    amount: answers.money('Amount of the attempt'),
    currency: answers.currency,
    holdRequestId: answers.requestId.optional(),
    createdAt: answers.time('When it was asked for'),
    ageSeconds: z.int().min(0),
    inquiryCount: z.int().min(0).meta({ description: 'Inquiries made' }),
    nextInquiryAt: answers.time('When the next is due').optional(),
    lateVoid: z.boolean().meta({ description: 'It gives back an authorization that came after the hold had failed' }),
  })
  .meta({ id: 'ReviewItem' });

export const ReviewPage = answers.pageOf(ReviewItem).meta({ id: 'ReviewPage', description: 'Oldest first' });

/** Answer of POST /operator/reviews/{requestId}/resolve. */
export const Resolved = z
  .object({
    requestId: answers.requestId,
    operation: Operation.meta({ description: 'Absent for the void of a late authorization' }).optional(),
    frozen: z.boolean().meta({ description: 'Whether its hold is frozen' }),
  })
  .meta({ id: 'Resolved' });
