import { QuarantineState } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { listQuarantined, type QuarantinedHead } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { filtersOf, readPage } from '../pages.ts';
import { presentQuarantined } from './quarantined.ts';

/** Lists quarantined notifications, newest first. */
export const listQuarantinedNotifications: Method<'listQuarantinedNotifications'> = async (core, request) => {
  const state = (request.state && QuarantineState[request.state]) as QuarantinedHead['state'];
  const filters = filtersOf({ merchantId: request.merchantId, state });
  const { page, nextPageToken } = await readPage(request, filters, BY_QUARANTINE_ID, {
    read: async (after, limit) => {
      const { rows, scannedTo } = await listQuarantined(core.reads, filters, after, limit);
      return { rows: await presentQuarantined(core, rows), scannedTo };
    },
    present: (notification) => notification,
  });
  return { notifications: page, nextPageToken };
};

const BY_QUARANTINE_ID = {
  isKey: isUuid,
  keyOf: ({ quarantineId = '' }: { readonly quarantineId?: string }) => quarantineId,
};
