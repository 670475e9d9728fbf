import { ENTRY_COLUMNS, entryChanges, entryIndexes } from '../../../platform/adapter/postgres/entries.ts';
import { historyTable } from '../../../platform/adapter/postgres/history.ts';
import { inboxTable } from '../../../platform/adapter/postgres/inbox.ts';
import type { Schema } from '../../../platform/adapter/postgres/migrate.ts';
import { eventTable } from '../../../platform/adapter/postgres/outbox.ts';
import { reversalTable } from '../../../platform/adapter/postgres/reversals.ts';

/** Key of the advisory lock that makes the order of `entry.sequence` the order of commits. */
export const ENTRY_ORDER_LOCK = 7_217_001;

/**
 * An entry is stored before Adyen is asked. The sums of an authorization stand in its own row, whose lock is held by
 * whoever changes it or what is about it.
 */
export const ADYEN_SCHEMA: Schema = {
  name: 'adyen',
  lock: 7_217_000,
  migrations: [
    {
      name: '0001_first_schema',
      sql: `
CREATE TABLE adyen.entry (
  ${ENTRY_COLUMNS},
  psp_reference text NOT NULL DEFAULT '',
  total bigint NOT NULL DEFAULT 0,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0
);
${entryIndexes('adyen')}
CREATE INDEX entry_of_psp_reference ON adyen.entry (psp_reference) WHERE psp_reference <> '';
CREATE INDEX entry_due ON adyen.entry (due_at) WHERE due_at IS NOT NULL;

${inboxTable('adyen')}${entryChanges('adyen')}${reversalTable('adyen')}${historyTable('adyen')}${eventTable('adyen')}`,
    },
  ],
};
