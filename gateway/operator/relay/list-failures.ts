import { z } from 'zod';
import {
  VerificationFailureReason,
  VerificationFailureSchema,
} from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { READ } from '../../http/problem-codes.ts';
import { pageOf, time } from '../../resource/answer-fields.ts';
import { messageJson, pageJson } from '../../resource/core-messages.ts';
import { notificationKind } from '../../resource/delivery.ts';
import { page, uuid } from '../../resource/request-fields.ts';
import { merchantId } from '../fields.ts';
import { operatorRoute } from '../route.ts';

const reason = z.enum(['MISSING_SIGNATURE', 'MALFORMED_SIGNATURE', 'WRONG_SIGNATURE', 'UNKNOWN_MERCHANT']);

/** A notification that the relay could not verify, without its body and signature. */
const VerificationFailure = z
  .object({
    failureId: uuid('failure'),
    failedAt: time('When it happened'),
    reason,
    kind: notificationKind,
    statusInfo: z.string(),
    claimedMerchantId: merchantId.meta({ description: 'The merchant that the body names; unproven' }),
    address: z
      .string()
      .meta({ description: "The sender's address", examples: ['192.0.2.1'] })
      .optional(),
    bodyBytes: z.int().min(0),
    bodySha256: z.string().meta({ description: 'SHA-256 of the body, hexadecimal' }),
    signatureSha256Prefix: z
      .string()
      .meta({ description: 'First 8 hexadecimal digits of the SHA-256 of the signature header' })
      .optional(),
  })
  .meta({ id: 'VerificationFailure' });

const failureJson = messageJson(VerificationFailure, VerificationFailureSchema, {
  bodySha256: ({ bodySha256 }) => Buffer.from(bodySha256).toString('hex'),
});

const FailurePage = pageOf(VerificationFailure).meta({ id: 'FailurePage', description: 'Newest first' });

export const listFailures = operatorRoute({
  method: 'get',
  path: '/operator/relay/failures',
  tag: 'Operators: relay',
  summary: 'List what the relay could not verify',
  description:
    'Newest first; only the newest are kept. Neither the body nor the signature is stored, and the merchant is only ' +
    'claimed.',
  query: z.strictObject({
    claimedMerchantId: merchantId.optional(),
    reason: reason.transform((name) => VerificationFailureReason[name]).optional(),
    ...page,
  }),
  answers: { 200: { description: 'A page', schema: FailurePage } },
  codes: READ,
  handler: async ({ ctx, core, asOperator, query }) => {
    const { failures, nextPageToken } = await core.notifications.listVerificationFailures(query, asOperator);
    ctx.body = pageJson(failures.map(failureJson), nextPageToken);
  },
});
