import type { Schema } from '../../../platform/adapter/postgres/migrate.ts';
import {
  DECREASED,
  ENTRY_COLUMNS,
  FOREIGN_FIRST,
  HISTORY_TABLE,
  LEDGER_TABLES,
  NETWORK_TRANSACTION,
  RENEWS,
  RETURNED,
} from '../../../platform/adapter/postgres/tables.ts';

/**
 * The schema of the adapter's ledger. An entry is stored before Adyen is asked. The sums of an authorization stand in
 * its own row, whose lock is held by whoever changes it or what is about it.
 */
export const ADYEN_SCHEMA: Schema = {
  name: 'adyen',
  lock: 7_217_000,
  orderLock: 7_217_001,
  migrations: [
    {
      name: '0001_first_schema',
      sql: `
CREATE TABLE entry (
  ${ENTRY_COLUMNS},
  psp_reference text NOT NULL DEFAULT '',
  total bigint NOT NULL DEFAULT 0,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0
);
${LEDGER_TABLES}${HISTORY_TABLE}
CREATE INDEX entry_of_psp_reference ON entry (psp_reference) WHERE psp_reference <> '';
CREATE INDEX entry_due ON entry (due_at) WHERE due_at IS NOT NULL;
`,
    },
    { name: '0002_returned', sql: RETURNED },
    {
      // What is sent again must be the same, and a repeated request may differ in it.
      name: '0003_customer_present',
      sql: 'ALTER TABLE entry ADD COLUMN customer_present boolean NOT NULL DEFAULT false',
    },
    { name: '0004_amount_done', sql: 'ALTER TABLE entry ADD COLUMN amount_done bigint' },
    { name: '0005_foreign_first', sql: FOREIGN_FIRST },
    { name: '0006_decreased', sql: DECREASED },
    {
      name: '0007_merchant_initiated',
      sql: `${NETWORK_TRANSACTION}ALTER TABLE entry ADD COLUMN merchant_reason smallint NOT NULL DEFAULT 0;`,
    },
    { name: '0008_renews', sql: RENEWS },
    {
      // What a customer's browser said is stored before it is sent, so that it is the same when it is sent again.
      name: '0009_step_up',
      sql: `
ALTER TABLE entry
  ADD COLUMN return_url text NOT NULL DEFAULT '',
  ADD COLUMN challenge boolean NOT NULL DEFAULT false,
  ADD COLUMN stage text NOT NULL DEFAULT '',
  ADD COLUMN page_ends_at timestamptz,
  ADD COLUMN browser jsonb,
  ADD COLUMN action jsonb,
  ADD COLUMN redirect_result text NOT NULL DEFAULT '';
`,
    },
  ],
};
