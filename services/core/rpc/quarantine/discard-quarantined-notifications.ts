import { timestampDate } from '@bufbuild/protobuf/wkt';
import { QuarantineReason } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { type DiscardFilter, discardMatching } from '../../storage/notification/quarantined-notification.ts';
import type { Method } from '../core.ts';

/** Decides that the quarantined notifications of a merchant that match are never forwarded: 1 000 at a time, oldest first. */
export const discardQuarantinedNotifications: Method<'discardQuarantinedNotifications'> = async (core, request) => {
  const { merchantId, reason, receivedFrom, receivedTo } = request;
  const filter: DiscardFilter = {
    merchantId,
    reason: reason ? (QuarantineReason[reason] as DiscardFilter['reason']) : null,
    receivedFrom: receivedFrom ? timestampDate(receivedFrom) : null,
    receivedTo: receivedTo ? timestampDate(receivedTo) : null,
  };
  const at = core.clock();
  const detail: Record<string, unknown> = { ...filter };
  const action = { at, action: 'quarantine.discard-matching', target: merchantId, detail };
  const discarded = await audited(core.database, action, async (query) => {
    detail.count = await discardMatching(query, filter, AT_ONCE, at);
    return detail.count;
  });
  return { discardedCount: Number(discarded), more: discarded === AT_ONCE };
};

const AT_ONCE = 1_000;
