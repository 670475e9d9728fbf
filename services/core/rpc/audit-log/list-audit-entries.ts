import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { AuditEntryRow } from '../../storage/audit-log/audit-entry.ts';
import { listAuditEntries as listStored } from '../../storage/audit-log/audit-log.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { presentFields } from '../present.ts';

/** Lists actions of operators, newest first. */
export const listAuditEntries: Method<'listAuditEntries'> = async (core, request) => {
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

function presentEntry(row: AuditEntryRow) {
  return {
    ...presentFields(row, 'at', 'actor', 'action', 'target'),
    auditEntryId: row.id,
    detail: row.detail == null ? '' : JSON.stringify(row.detail),
  };
}
