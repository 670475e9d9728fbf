import { z } from 'zod';
import { FailureExplanationSchema, VerificationFailureSchema } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { answer, pageOf } from './answer.ts';

const FailureExplanation = answer('FailureExplanation', FailureExplanationSchema);

const bodySha256 = {
  schema: z.string().meta({ description: 'SHA-256 of the body, hexadecimal' }),
  read: ({ bodySha256 }: { readonly bodySha256: Uint8Array }) => Buffer.from(bodySha256).toString('hex'),
};

const differences = { parts: { explain: FailureExplanation }, own: { bodySha256 } } as const;

const VerificationFailure = answer('VerificationFailure', VerificationFailureSchema, {
  ...differences,
  without: ['bodySha256'],
});

/** As operators see them. */
export const FailurePage = pageOf('FailurePage', 'Newest first', VerificationFailure, 'failures');

const RelayFailure = answer('RelayFailure', VerificationFailureSchema, {
  ...differences,
  without: ['bodySha256', 'claimedMerchantId'],
});

/** As the merchant sees its own. */
export const RelayFailurePage = pageOf('RelayFailurePage', 'Newest first', RelayFailure, 'failures');
