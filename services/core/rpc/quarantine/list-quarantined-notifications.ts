import { QuarantineState } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { listQuarantined, type QuarantinedHead } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentQuarantined } from './quarantined.ts';

/** Lists quarantined notifications, newest first. */
export const listQuarantinedNotifications: Method<'listQuarantinedNotifications'> = async (core, request) => {
  const { merchantId, state } = request;
  const filters = {
    ...(merchantId !== '' && { merchantId }),
    ...(state !== QuarantineState.UNSPECIFIED && { state: QuarantineState[state] as QuarantinedHead['state'] }),
  };
  const after = pageKey(request.pageToken, filters, isUuid);
  const size = pageSizeOf(request);
  const rows = await listQuarantined(core.database, filters, after, size + 1);
  const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(last.id, filters));
  return { notifications: await presentQuarantined(core, page), nextPageToken };
};
