import type { AuditEntryRow } from '../../storage/audit-log/audit-log.ts';
import { listAuditEntries as listStored } from '../../storage/audit-log/audit-log.ts';
import type { Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { presentFields } from '../present.ts';

/** Lists actions of operators, newest first. */
export const listAuditEntries: Method<'listAuditEntries'> = async (core, request) => {
  const { target, action, actor, atFrom, atTo } = request;
  if (`${target}${action}${actor}`.includes('\0')) return { entries: [], nextPageToken: '' };
  const filters = filtersOf({ target, action, actor, atFrom, atTo });
  const { page, nextPageToken } = await readPage(request, filters, BY_ID, {
    read: (after, limit) => listStored(core.reads, filters, after, limit),
    present: presentEntry,
  });
  return { entries: page, nextPageToken };
};

function presentEntry(row: AuditEntryRow) {
  return {
    ...presentFields(row, 'at', 'actor', 'action', 'target'),
    auditEntryId: row.id,
    detail: row.detail == null ? '' : JSON.stringify(row.detail),
  };
}
