import { AuditEntrySchema } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import {
  type AuditEntryRow,
  type AuditFilter,
  listAuditEntries as listStored,
} from '../../storage/audit-log/audit-log.ts';
import type { Method } from '../core.ts';
import { BY_ID, filtersOf, readPage } from '../pages.ts';
import { present } from '../present.ts';

/** Lists actions of operators, newest first. */
export const listAuditEntries: Method<'listAuditEntries'> = (core, request, context) =>
  readPage('entries', request, filtersOf<AuditFilter>(context, request), BY_ID, {
    read: (filters, after, limit) => listStored(core.reads, filters, after, limit),
    present: presentAuditEntry,
  });

export function presentAuditEntry(row: AuditEntryRow) {
  return present(AuditEntrySchema, row, { auditEntryId: row.id, detail: row.detail && JSON.stringify(row.detail) });
}
