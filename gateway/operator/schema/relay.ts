import { z } from 'zod';
import { GRAMMAR } from '../../relay/notification.ts';
import { pageOf, time } from '../../rest/schema/answer-fields.ts';
import { page } from '../../rest/schema/fields.ts';
import { merchantId, notificationKind, uuid } from './fields.ts';

const failureReason = z.enum(['MISSING_SIGNATURE', 'MALFORMED_SIGNATURE', 'WRONG_SIGNATURE', 'UNKNOWN_MERCHANT']);
const senderRequestId = z
  .string()
  .regex(GRAMMAR.requestId)
  .meta({ examples: ['invoice-16'] });
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

/** What was accepted under the requestId of a notification that was set aside. */
const AcceptedNotification = z
  .object({ ...says, receivedAt: time('When it was accepted') })
  .meta({ id: 'AcceptedNotification', description: 'The other side of a notification that was set aside' });

/** A verified notification that was accepted, and where it stands; never its body or signature. */
export const StoredNotification = AcceptedNotification.extend({
  state: z.enum(['PARKED', 'FORWARDED', 'NOT_FORWARDED']).meta({
    description:
      'PARKED: it waits for the merchant to have an internalUrl. FORWARDED: a delivery forwards it, or has done so. ' +
      'NOT_FORWARDED: it was purged while it was parked, or accepted by a version that did not park',
  }),
  deliveryId: uuid('delivery that forwards it').optional(),
}).meta({ id: 'StoredNotification', description: 'A verified notification that was accepted' });

export const StoredPage = pageOf(StoredNotification).meta({ id: 'StoredPage', description: 'Newest first' });

/** Query of GET /operator/relay/notifications. */
export const ListStoredQuery = z
  .strictObject({
    merchantId: merchantId.optional(),
    requestId: senderRequestId.meta({ description: 'Only this one; merchantId must be given, too' }).optional(),
    state: z.enum(['PARKED']).meta({ description: 'Only those that wait' }).optional(),
    ...page,
  })
  .meta({ id: 'ListStored' });

/** Body of POST /operator/relay/notifications/replay. */
export const ReplayStoredBody = z
  .strictObject({ merchantId, requestId: senderRequestId })
  .meta({ id: 'ReplayStored', description: 'Names a notification that was accepted' });

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
    accepted: AcceptedNotification.optional(),
  })
  .meta({ id: 'QuarantinedNotification' });

export const QuarantinePage = pageOf(QuarantinedNotification).meta({
  id: 'QuarantinePage',
  description: 'Newest first',
});
