import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { MethodImpl } from '@connectrpc/connect';
import type { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { AuditEntryEntity, type AuditEntryRow } from '../../storage/audit-entry.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';

/** Lists what operators did, newest first; entries are numbered in the order in which they were written. */
export function listAuditEntries(core: Core): MethodImpl<typeof OperatorService.method.listAuditEntries> {
  return async (request) => {
    const { target, action } = request;
    if (target.includes('\0') || action.includes('\0')) return { entries: [], nextPageToken: '' };
    const filters = { ...(target !== '' && { target }), ...(action !== '' && { action }) };
    const after = pageKey(request.pageToken, filters, isUuid);
    const size = pageSizeOf(request);
    const where = { ...filters, ...(after !== undefined && { id: { $lt: after } }) };
    const rows = await core.database.orm.em
      .fork()
      .find(AuditEntryEntity, where, { orderBy: { id: 'desc' }, limit: size + 1 });
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
