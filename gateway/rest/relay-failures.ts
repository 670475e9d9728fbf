import { z } from 'zod';
import { VerificationFailureReasonSchema } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { MANAGED_READ } from '../http/problem-codes.ts';
import { numberOf } from '../resource/contract-field.ts';
import { ofSender, page } from '../resource/request-fields.ts';
import { RelayFailurePage } from '../resource/verification-failure.ts';
import { restRoute } from './route.ts';

export const RELAY_FAILURE_ROUTES = {
  listRelayFailures: restRoute('Relay', 'GET /relay/failures', {
    summary: 'List what the relay could not verify, with what is wrong with it',
    description:
      "Of the merchant's senders, and of what names the merchant in its body; anybody can send that. `explain` says what " +
      'had to be signed, and which usual mistake makes the signature that came. Newest first; only the newest are kept. ' +
      'Neither a body, a secret nor a signature is stored.',
    query: z.strictObject({
      reason: numberOf(VerificationFailureReasonSchema).optional(),
      senderId: ofSender,
      ...page,
    }),
    answers: { 200: { description: 'A page', schema: RelayFailurePage.schema } },
    codes: MANAGED_READ,
    handler: async ({ core, merchantId, asKey, query }) =>
      RelayFailurePage.json(await core.relay.listRelayFailures({ ...query, merchantId }, asKey)),
  }),
} as const;
