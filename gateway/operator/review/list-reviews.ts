import { z } from 'zod';
import { ReviewItemSchema, ReviewReasonSchema } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { answer, pageOf } from '../../resource/answer.ts';
import { numberOf } from '../../resource/contract-field.ts';
import { page } from '../../resource/request-fields.ts';
import { REVIEWED_KINDS } from '../../resource/status-words.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const ReviewItem = answer('ReviewItem', ReviewItemSchema, {
  own: { operation: { schema: z.enum(REVIEWED_KINDS).meta({ description: 'What the operation does' }) } },
});

const ReviewPage = pageOf('ReviewPage', 'Oldest first', ReviewItem);

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
    reason: numberOf(ReviewReasonSchema).optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: ReviewPage.schema } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { items, nextPageToken } = await core.operators.listReviewItems(query, asOperator);
    ctx.body = ReviewPage.json(items, nextPageToken);
  },
});
