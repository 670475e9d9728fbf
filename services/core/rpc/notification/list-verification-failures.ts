import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
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
import { notificationKindOf } from '../kinds.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';

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
    failureId: row.id,
    failedAt: timestampFromDate(row.failedAt),
    reason: VerificationFailureReason[row.reason as keyof typeof VerificationFailureReason],
    kind: notificationKindOf(row.kind),
    statusInfo: row.statusInfo,
    claimedMerchantId: row.claimedMerchantId,
    address: row.address,
    bodyBytes: row.bodyBytes,
    bodySha256: row.bodySha256,
    signatureSha256Prefix: row.signatureSha256Prefix,
  };
}
