import { ENTRY_COLUMNS, entryChanges, entryIndexes } from '../../../platform/adapter/postgres/entries.ts';
import { inboxTable } from '../../../platform/adapter/postgres/inbox.ts';
import type { Migration, Schema } from '../../../platform/adapter/postgres/migrate.ts';
import { eventTable } from '../../../platform/adapter/postgres/outbox.ts';
import { reversalTable } from '../../../platform/adapter/postgres/reversals.ts';

/** Key of the advisory lock that makes the order of `entry.sequence` the order of commits. */
export const ENTRY_ORDER_LOCK = 7_216_001;

const MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_first_schema',
    // `entry` holds one row for each identifier of Holdfast, a fenced one too; none is ever deleted, so an identifier
    // is known for ever. What was done under it is stored before Stripe is called. Amounts are ISO 4217 minor units.
    // The sums of an authorization stand in its own row, where CHECKs guard them.
    sql: `
CREATE TABLE stripe.entry (
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
${entryIndexes('stripe')}
CREATE UNIQUE INDEX entry_of_intent ON stripe.entry (intent_id) WHERE kind IN ('authorization', 'checkout');
CREATE UNIQUE INDEX entry_of_session ON stripe.entry (session_id);
CREATE INDEX entry_to_look_at ON stripe.entry (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX entry_of_refund ON stripe.entry (refund_id);
CREATE INDEX entry_of_token ON stripe.entry (generated_token_id) WHERE generated_token_id <> '';

-- What is known of an account at Stripe; empty = the API key's own.
CREATE TABLE stripe.account (
  account text PRIMARY KEY,
  features_refused_at timestamptz NOT NULL
);

${inboxTable('stripe')}${entryChanges('stripe')}${reversalTable('stripe')}${eventTable('stripe')}`,
  },
];

/** The schema of the adapter's ledger. */
export const STRIPE_SCHEMA: Schema = { name: 'stripe', lock: 7_216_000, migrations: MIGRATIONS };
