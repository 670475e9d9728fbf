import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import type { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import type { AuditEntryRow } from '../../storage/audit-log/audit-log.ts';
import { listAuditEntries as listStored } from '../../storage/audit-log/audit-log.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';

/** Lists actions of operators, newest first. */
export function listAuditEntries(core: Core): MethodImpl<typeof OperatorService.method.listAuditEntries> {
  return async (request) => {
    const { target, action, atFrom, atTo } = request;
    if (target.includes('\0') || action.includes('\0')) return { entries: [], nextPageToken: '' };
    const filters = {
      ...(target !== '' && { target }),
      ...(action !== '' && { action }),
      ...(atFrom && { atFrom: timestampDate(atFrom) }),
      ...(atTo && { atTo: timestampDate(atTo) }),
    };
    const after = pageKey(request.pageToken, filters, isUuid);
    const size = pageSizeOf(request);
    const rows = await listStored(core.database, filters, after, size + 1);
    const { page, nextPageToken } = cutPage(rows, size, (last) => pageToken(last.id, filters));
    return { entries: page.map(presentEntry), nextPageToken };
  };
}

function presentEntry(row: AuditEntryRow) {
  return {
    auditEntryId: row.id,
    at: timestampFromDate(row.at),
    actor: row.actor,
    action: row.action,
    target: row.target,
    detail: row.detail == null ? '' : JSON.stringify(row.detail),
  };
}
