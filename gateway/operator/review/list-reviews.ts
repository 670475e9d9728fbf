import { z } from 'zod';
import { ReviewItemSchema, ReviewReason } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { READ } from '../../http/problem-codes.ts';
import * as fields from '../../resource/answer-fields.ts';
import { messageJson, pageJson } from '../../resource/core-messages.ts';
import { page } from '../../resource/request-fields.ts';
import { REVIEWED_KINDS } from '../../resource/status-words.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const reason = z
  .enum(['UNKNOWN', 'NEEDS_REVIEW', 'FROZEN'])
  .meta({ description: 'Inquiries go on; only an operator can tell; or a frozen hold' });

/** An operation without a known outcome, or a frozen hold. */
const ReviewItem = z
  .object({
    requestId: fields.requestId,
    reason,
    operation: z.enum(REVIEWED_KINDS),
    merchantId,
    amount: fields.money('Amount of the operation'),
    currency: fields.currency,
    holdRequestId: fields.requestId.optional(),
    createdAt: fields.time('When it was asked for'),
    ageSeconds: z.int().min(0),
    inquiryCount: z.int().min(0).meta({ description: 'Inquiries made' }),
    nextInquiryAt: fields.time('When the next is due').optional(),
    lateVoid: z.boolean().meta({ description: 'It gives back an authorization that came after the hold had failed' }),
    processor: z
      .string()
      .meta({ description: 'The card processor that it was sent to; absent = the default' })
      .optional(),
    processorRequestId: fields.requestId
      .meta({
        description: 'Its identifier at the processor, which follows from an Idempotency-Key; absent = the requestId',
      })
      .optional(),
  })
  .meta({ id: 'ReviewItem' });

const reviewJson = messageJson(ReviewItem, ReviewItemSchema);

const ReviewPage = fields.pageOf(ReviewItem).meta({ id: 'ReviewPage', description: 'Oldest first' });

export const listReviews = operatorRoute({
  method: 'get',
  path: '/operator/reviews',
  tag: 'Operators: overview',
  summary: 'List what waits for a decision: unknown outcomes, needs review, frozen holds',
  description:
    'Oldest first; filters are joined by AND. Inquiries go on for UNKNOWN; the others wait until somebody resolves ' +
    'them.',
  query: z.strictObject({
    merchantId: merchantId.optional(),
    reason: reason.transform((name) => ReviewReason[name]).optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: ReviewPage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { items, nextPageToken } = await core.operators.listReviewItems(query, asOperator);
    ctx.body = pageJson(items.map(reviewJson), nextPageToken);
  },
});
