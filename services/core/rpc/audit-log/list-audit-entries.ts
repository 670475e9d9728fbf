import { AuditEntrySchema } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { type AuditFilter, listAuditEntries as listStored } from '../../storage/audit-log/audit-log.ts';
import type { Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { present } from '../present.ts';

/** Lists actions of operators, newest first. */
export const listAuditEntries: Method<'listAuditEntries'> = async (core, request, context) => {
  const { target, action, actor } = request;
  if (`${target}${action}${actor}`.includes('\0')) return { entries: [], nextPageToken: '' };
  const filters = filtersOf<AuditFilter>(context, request);
  const { page, nextPageToken } = await readPage(request, filters, BY_ID, {
    read: (after, limit) => listStored(core.reads, filters, after, limit),
    present: (row) =>
      present(AuditEntrySchema, row, { auditEntryId: row.id, detail: row.detail && JSON.stringify(row.detail) }),
  });
  return { entries: page, nextPageToken };
};
