import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** An action of an operator. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    id: p.uuid().primary(),
    at: p.datetime(3),
    actor: p.text(),
    action: p.text(),
    target: p.text(),
    detail: p.json().nullable().$type<Record<string, unknown>>(),
  },
  indexes: [
    {
      name: 'audit_entry_by_target',
      expression: 'create index "audit_entry_by_target" on "audit_entry" ("target", "id")',
    },
  ],
});
export type AuditEntryRow = InferEntity<typeof AuditEntryEntity>;
