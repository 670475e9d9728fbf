import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type VerificationFailure,
  VerificationFailureReason,
  type VerificationFailureSchema,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import {
  insertVerificationFailures,
  listVerificationFailures as listStored,
  type VerificationFailureInput,
  type VerificationFailureRow,
} from '../../storage/notification/verification-failure.ts';
import type { Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { keptNotificationKind, notificationKindOf, presentFields } from '../present.ts';

/** Stores notifications that the relay could not verify, for operators. */
export const reportVerificationFailures: Method<'reportVerificationFailures'> = async (
  core,
  { failures, droppedCount },
) => {
  await core.database.transaction((query) => insertVerificationFailures(query, failures.map(inputOf)));
  if (droppedCount > 0) core.log.warn('verification_failures_dropped', { count: droppedCount });
  return {};
};

function inputOf(failure: VerificationFailure): VerificationFailureInput {
  return {
    id: failure.failureId,
    failedAt: failure.failedAt ? timestampDate(failure.failedAt).toISOString() : '',
    reason: VerificationFailureReason[failure.reason],
    kind: keptNotificationKind(failure.kind),
    statusInfo: failure.statusInfo,
    claimedMerchantId: failure.claimedMerchantId,
    address: failure.address,
    bodyBytes: failure.bodyBytes,
    bodySha256: Buffer.from(failure.bodySha256).toString('hex'),
    signatureSha256Prefix: failure.signatureSha256Prefix,
  };
}

/** Lists notifications that the relay could not verify, newest first. */
export const listVerificationFailures: Method<'listVerificationFailures'> = async (core, request) => {
  const { claimedMerchantId, reason } = request;
  const filters = filtersOf({ claimedMerchantId, reason: (reason && VerificationFailureReason[reason]) as string });
  const { page, nextPageToken } = await readPage(request, filters, BY_ID, {
    read: (after, limit) => listStored(core.reads, filters, after, limit),
    present: presentFailure,
  });
  return { failures: page, nextPageToken };
};

/** A failed verification as operators see it. */
function presentFailure(row: VerificationFailureRow): MessageInitShape<typeof VerificationFailureSchema> {
  return {
    ...presentFields(row, 'failedAt', 'statusInfo', 'claimedMerchantId', 'address'),
    ...presentFields(row, 'bodyBytes', 'bodySha256', 'signatureSha256Prefix'),
    failureId: row.id,
    reason: VerificationFailureReason[row.reason as keyof typeof VerificationFailureReason],
    kind: notificationKindOf(row.kind),
  };
}
