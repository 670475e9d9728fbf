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
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { notificationKindOf, presentFields } from '../present.ts';

/** Lists notifications that the relay could not verify, newest first. */
export const listVerificationFailures: Method<'listVerificationFailures'> = async (core, request) => {
  const { claimedMerchantId, reason } = request;
  const filters = {
    ...(claimedMerchantId !== '' && { claimedMerchantId }),
    ...(reason !== VerificationFailureReason.UNSPECIFIED && { reason: VerificationFailureReason[reason] }),
  };
  const after = pageKey(request.pageToken, filters, isUuid);
  const size = pageSizeOf(request);
  const rows = await listStored(core.database, filters, after, size + 1);
  const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(last.id, filters));
  return { failures: page.map(presentFailure), nextPageToken };
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
