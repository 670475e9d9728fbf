import { z } from 'zod';
import {
  VerificationFailureReasonSchema,
  VerificationFailureSchema,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { answer, pageOf } from '../../resource/answer.ts';
import { numberOf } from '../../resource/contract-field.ts';
import { merchantId, page } from '../../resource/request-fields.ts';
import { operatorRoute } from '../route.ts';

/** A notification that the relay could not verify, without its body and signature. */
const VerificationFailure = answer('VerificationFailure', VerificationFailureSchema, {
  without: ['bodySha256'],
  own: {
    bodySha256: {
      schema: z.string().meta({ description: 'SHA-256 of the body, hexadecimal' }),
      read: ({ bodySha256 }) => Buffer.from(bodySha256).toString('hex'),
    },
  },
});

const FailurePage = pageOf('FailurePage', 'Newest first', VerificationFailure, 'failures');

export const listFailures = operatorRoute({
  path: '/operator/relay/failures',
  tag: 'Operators: relay',
  summary: 'List what the relay could not verify',
  description:
    'Newest first; only the newest are kept. Neither the body nor the signature is stored, and the merchant is only ' +
    'claimed.',
  query: z.strictObject({
    claimedMerchantId: merchantId.optional(),
    reason: numberOf(VerificationFailureReasonSchema).optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: FailurePage.schema } },
  handler: async ({ core, asOperator, query }) =>
    FailurePage.json(await core.notifications.listVerificationFailures(query, asOperator)),
});
