import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  VerificationFailureReason,
  type VerificationFailureSchema,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import {
  listVerificationFailures as listStored,
  type VerificationFailureRow,
} from '../../storage/notification/verification-failure.ts';
import type { Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { notificationKindOf, presentFields } from '../present.ts';

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
