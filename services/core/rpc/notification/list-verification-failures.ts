import type { MethodImpl } from '@connectrpc/connect';
import {
  type NotificationService,
  VerificationFailureReason,
} from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { VerificationFailureEntity } from '../../storage/verification-failure.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import type { NotificationCore } from './notification-core.ts';
import { presentFailure } from './present-notification.ts';

/** Lists what the relay could not verify, newest first. */
export function listVerificationFailures(
  core: NotificationCore,
): MethodImpl<typeof NotificationService.method.listVerificationFailures> {
  return async (request) => {
    const { claimedMerchantId, reason } = request;
    const filters = {
      ...(claimedMerchantId !== '' && { claimedMerchantId }),
      ...(reason !== VerificationFailureReason.UNSPECIFIED && { reason: VerificationFailureReason[reason] }),
    };
    const after = pageKey(request.pageToken, filters, isUuid);
    const size = pageSizeOf(request);
    const rows = await core.database.orm.em
      .fork()
      .find(
        VerificationFailureEntity,
        { ...filters, ...(after !== undefined && { id: { $lt: after } }) },
        { orderBy: { id: 'desc' }, limit: size + 1 },
      );
    const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(last.id, filters));
    return { failures: page.map(presentFailure), nextPageToken };
  };
}
