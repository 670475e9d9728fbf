import type { Schema } from '../../../platform/adapter/postgres/migrate.ts';
import {
  DECREASED,
  ENTRY_COLUMNS,
  FOREIGN_FIRST,
  LEDGER_TABLES,
  NETWORK_TRANSACTION,
  RENEWS,
  RETURNED,
} from '../../../platform/adapter/postgres/tables.ts';

/**
 * The schema of the adapter's ledger. What was done under an identifier is stored before Stripe is called. The sums of
 * an authorization stand in its own row, where CHECKs guard them.
 */
export const STRIPE_SCHEMA: Schema = {
  name: 'stripe',
  lock: 7_216_000,
  orderLock: 7_216_001,
  migrations: [
    {
      name: '0001_first_schema',
      sql: `
CREATE TABLE entry (
  ${ENTRY_COLUMNS},
  merchant_name text NOT NULL,
  description text NOT NULL DEFAULT '',
  customer_present boolean NOT NULL DEFAULT false,
  expected_capture_at timestamptz,
  return_url text NOT NULL,
  save_card boolean NOT NULL,
  stage text NOT NULL CHECK (stage IN ('stored', 'sent', 'fencing', 'ended')),
  intent_id text,
  session_id text,
  refund_id text,
  closing_url text,
  baseline bigint NOT NULL DEFAULT 0,
  several_captures boolean NOT NULL DEFAULT false,
  increments boolean NOT NULL DEFAULT false,
  lease_by uuid,
  lease_until timestamptz,
  look_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
${LEDGER_TABLES}
CREATE UNIQUE INDEX entry_of_intent ON entry (intent_id) WHERE kind IN ('authorization', 'checkout');
CREATE UNIQUE INDEX entry_of_session ON entry (session_id);
CREATE INDEX entry_to_look_at ON entry (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX entry_of_refund ON entry (refund_id);
CREATE INDEX entry_of_token ON entry (generated_token_id) WHERE generated_token_id <> '';

-- What is known of an account at Stripe; empty = the API key's own.
CREATE TABLE account (
  account text PRIMARY KEY,
  features_refused_at timestamptz NOT NULL
);
`,
    },
    { name: '0002_returned', sql: RETURNED },
    { name: '0003_foreign_first', sql: FOREIGN_FIRST },
    { name: '0004_decreased', sql: DECREASED },
    { name: '0005_network_transaction', sql: NETWORK_TRANSACTION },
    {
      name: '0006_step_up',
      sql: `ALTER TABLE entry ADD COLUMN challenge boolean NOT NULL DEFAULT false, ADD COLUMN action_url text;`,
    },
    { name: '0007_renews', sql: RENEWS },
  ],
};
