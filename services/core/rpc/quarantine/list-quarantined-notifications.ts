import { QuarantineState } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { listQuarantined, type QuarantinedHead } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { presentQuarantined } from './quarantined.ts';

/** Lists quarantined notifications, newest first. */
export const listQuarantinedNotifications: Method<'listQuarantinedNotifications'> = async (core, request) => {
  const state = (request.state && QuarantineState[request.state]) as QuarantinedHead['state'];
  const filters = filtersOf({ merchantId: request.merchantId, state });
  const { page, nextPageToken } = await readPage(request, filters, BY_ID, (after, limit) =>
    listQuarantined(core.database, filters, after, limit),
  );
  return { notifications: await presentQuarantined(core, page), nextPageToken };
};
