import type { Migration, Schema } from '../../../platform/adapter/postgres/migrate.ts';
import { eventTable } from '../../../platform/adapter/postgres/outbox.ts';

/** Key of the advisory lock that makes the order of `entry.sequence` the order of commits. */
export const ENTRY_ORDER_LOCK = 7_216_001;

const MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_first_schema',
    // `entry` holds one row for each identifier of Holdfast, a fenced one too; none is ever deleted, so an identifier is
    // known for ever. What was done under it is stored before Stripe is called. Amounts are ISO 4217 minor units. The sums
    // of an authorization stand in its own row, where CHECKs guard them.
    sql: `
CREATE TABLE stripe.entry (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request_id uuid NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('authorization', 'checkout', 'capture', 'void', 'increment', 'extension', 'refund', 'credit', 'fence')),
  authorization_request_id uuid,
  capture_request_id uuid,
  merchant_id text NOT NULL,
  account text NOT NULL,
  terminal_id text NOT NULL,
  user_id text NOT NULL,
  token_id text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  final_capture boolean NOT NULL,
  merchant_name text NOT NULL,
  merchant_reference text NOT NULL,
  description text NOT NULL DEFAULT '',
  customer_present boolean NOT NULL DEFAULT false,
  operation_request_id text NOT NULL DEFAULT '',
  memo text NOT NULL DEFAULT '',
  return_url text NOT NULL,
  save_card boolean NOT NULL,
  stage text NOT NULL CHECK (stage IN ('stored', 'sent', 'fencing', 'ended')),
  intent_id text,
  session_id text,
  refund_id text,
  closing_url text,
  baseline bigint NOT NULL DEFAULT 0,
  sent_at timestamptz,
  answer smallint NOT NULL DEFAULT 0,
  reference text NOT NULL DEFAULT '',
  bank_reference text NOT NULL DEFAULT '',
  error_code text NOT NULL DEFAULT '',
  error_message text NOT NULL DEFAULT '',
  card_brand text NOT NULL DEFAULT '',
  card_last4 text NOT NULL DEFAULT '',
  card_expiry_month integer NOT NULL DEFAULT 0,
  card_expiry_year integer NOT NULL DEFAULT 0,
  generated_token_id text NOT NULL DEFAULT '',
  expires_at timestamptz,
  expected_by timestamptz,
  acted_at timestamptz,
  several_captures boolean NOT NULL DEFAULT false,
  increments boolean NOT NULL DEFAULT false,
  released bigint NOT NULL DEFAULT 0 CHECK (released >= 0),
  captured bigint NOT NULL DEFAULT 0 CHECK (captured >= 0),
  voided bigint NOT NULL DEFAULT 0 CHECK (voided >= 0),
  incremented bigint NOT NULL DEFAULT 0 CHECK (incremented >= 0),
  refunded bigint NOT NULL DEFAULT 0 CHECK (refunded >= 0),
  reversed bigint NOT NULL DEFAULT 0 CHECK (reversed >= 0),
  ended_at timestamptz,
  ended_how smallint NOT NULL DEFAULT 0,
  lease_by uuid,
  lease_until timestamptz,
  look_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (captured + voided <= amount + incremented),
  CHECK (refunded + reversed <= CASE kind WHEN 'capture' THEN amount ELSE captured END)
);
CREATE INDEX entry_of_authorization ON stripe.entry (authorization_request_id, sequence);
CREATE UNIQUE INDEX entry_of_intent ON stripe.entry (intent_id) WHERE kind IN ('authorization', 'checkout');
CREATE UNIQUE INDEX entry_of_session ON stripe.entry (session_id);
CREATE INDEX entry_open ON stripe.entry (sequence) WHERE stage <> 'ended';
CREATE INDEX entry_to_look_at ON stripe.entry (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX entry_of_refund ON stripe.entry (refund_id);
CREATE INDEX entry_of_token ON stripe.entry (generated_token_id) WHERE generated_token_id <> '';

-- What is known of an account at Stripe; empty = the API key's own.
CREATE TABLE stripe.account (
  account text PRIMARY KEY,
  features_refused_at timestamptz NOT NULL
);

-- What Stripe announced; each is a reason to look at its object.
CREATE TABLE stripe.notice (
  event_id text PRIMARY KEY,
  type text NOT NULL,
  account text NOT NULL,
  object_id text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  done_at timestamptz
);
CREATE INDEX notice_due ON stripe.notice (due_at) WHERE done_at IS NULL;

-- Money that left a charge otherwise than by a refund of ours: a dispute, or a refund made in Stripe's dashboard.
-- An odd turn took the amount, an even one gave it again.
CREATE TABLE stripe.reversal (
  reversal_id text PRIMARY KEY,
  authorization_request_id uuid NOT NULL,
  capture_request_id uuid,
  amount bigint NOT NULL CHECK (amount > 0),
  turn integer NOT NULL
);
CREATE INDEX reversal_of_authorization ON stripe.reversal (authorization_request_id);
${eventTable('stripe')}`,
  },
];

/** The schema of the adapter's ledger. */
export const STRIPE_SCHEMA: Schema = { name: 'stripe', lock: 7_216_000, migrations: MIGRATIONS };
