import { defineEntity, p } from '@mikro-orm/core';

/** This installation: one row, written once. A backup has it, so it outlives a restore. */
export const InstallationEntity = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    /** 1: there is one row. */
    number: p.integer().primary().autoincrement(false),
    id: p.uuid(),
  },
  checks: [{ name: 'installation_is_one', expression: 'number = 1' }],
});
