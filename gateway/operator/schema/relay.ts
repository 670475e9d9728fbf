import { z } from 'zod';
import { pageOf, time } from '../../rest/schema/answer-fields.ts';
import { page } from '../../rest/schema/fields.ts';
import { merchantId, notificationKind, uuid } from './fields.ts';

const failureReason = z.enum(['MISSING_SIGNATURE', 'MALFORMED_SIGNATURE', 'WRONG_SIGNATURE', 'UNKNOWN_MERCHANT']);
const quarantineState = z.enum(['HELD', 'RELEASED', 'DISCARDED']);

/** Query of GET /operator/relay/failures. */
export const ListFailuresQuery = z
  .strictObject({ claimedMerchantId: merchantId.optional(), reason: failureReason.optional(), ...page })
  .meta({ id: 'ListFailures' });

/** Query of GET /operator/relay/quarantine. */
export const ListQuarantineQuery = z
  .strictObject({ merchantId: merchantId.optional(), state: quarantineState.optional(), ...page })
  .meta({ id: 'ListQuarantine' });

/** A notification that the relay could not verify; neither its body nor its signature. */
export const VerificationFailure = z
  .object({
    failureId: uuid('failure'),
    failedAt: time('When it happened'),
    reason: failureReason,
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

export const FailurePage = pageOf(VerificationFailure).meta({ id: 'FailurePage', description: 'Newest first' });

const says = {
  merchantId,
  requestId: z.string(),
  kind: notificationKind,
  statusInfo: z.string(),
  status: z.string().meta({ description: 'As signed' }),
  amount: z.string().meta({ description: 'The very characters that were signed' }),
  currency: z.string(),
};

/** A verified notification that was accepted; never its body or signature. */
export const StoredNotification = z
  .object({ ...says, receivedAt: time('When it was accepted') })
  .meta({ id: 'StoredNotification' });

/** A verified notification that was set aside; never its body or signature. */
export const QuarantinedNotification = z
  .object({
    quarantineId: uuid('notification that was set aside'),
    ...says,
    reason: z.enum(['CONFLICT', 'STATUS_INFO_CONTRADICTED']),
    state: quarantineState,
    receivedAt: time('When it was set aside'),
    decidedAt: time('When it was decided').optional(),
    deliveryId: uuid('delivery that forwards it').optional(),
    accepted: StoredNotification.meta({
      description: 'The other side: what was accepted under this requestId; absent while nothing is',
    }).optional(),
  })
  .meta({ id: 'QuarantinedNotification' });

export const QuarantinePage = pageOf(QuarantinedNotification).meta({
  id: 'QuarantinePage',
  description: 'Newest first',
});
