import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';

/** Keys of the advisory locks that the adapter takes in its database, apart from those of core. */
export const ADVISORY_LOCKS = {
  /** Lets one process at a time migrate. */
  migration: 7_216_000,
  /** Makes the order of `entry.sequence` the order of commits. */
  entryOrder: 7_216_001,
} as const;

/**
 * Brings the schema `stripe` of a database to this version; a database that is not there yet is created, where the role may.
 * Safe to run by several processes at once.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = await connectOrCreate(databaseUrl);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migration]);
    // Asked first: IF NOT EXISTS would need the right to create schemas even when there is nothing to create.
    const { rows } = await client.query(`SELECT to_regnamespace('stripe') AS schema`);
    if (rows[0].schema === null) await client.query('CREATE SCHEMA stripe');
    await client.query(
      'CREATE TABLE IF NOT EXISTS stripe.migration (name text PRIMARY KEY, done_at timestamptz NOT NULL DEFAULT now())',
    );
    const done = await client.query<{ name: string }>('SELECT name FROM stripe.migration');
    const names = new Set(done.rows.map(({ name }) => name));
    for (const { name, sql } of MIGRATIONS) {
      if (names.has(name)) continue;
      await client.query(
        `BEGIN; ${sql}; INSERT INTO stripe.migration (name) VALUES (${client.escapeLiteral(name)}); COMMIT`,
      );
    }
  } finally {
    await client.end();
  }
}

async function connectOrCreate(databaseUrl: string): Promise<DatabaseClient> {
  try {
    return await connect(databaseUrl);
  } catch (error) {
    const [, server = '', name = '', options = ''] = /^(\w+:\/\/[^/]+\/)([^?]+)(.*)$/.exec(databaseUrl) ?? [];
    if ((error as { code?: string }).code !== NO_SUCH_DATABASE || name === '') throw error;
    const client = await connect(`${server}postgres${options}`);
    await client
      .query(`CREATE DATABASE ${client.escapeIdentifier(decodeURIComponent(name))}`)
      .catch(ignoreExisting)
      .finally(() => client.end());
    return connect(databaseUrl);
  }
}

const NO_SUCH_DATABASE = '3D000';

async function connect(databaseUrl: string): Promise<DatabaseClient> {
  const client = new DatabaseClient(connectionOptions(databaseUrl));
  await client.connect();
  return client;
}

/** Another process may create it at the same moment. */
function ignoreExisting(error: { code?: string }): void {
  if (error.code !== '42P04' && error.code !== '23505') throw error;
}

/** The schema's migrations, in order: forward-only and additive, so that the code before one runs on the schema after it. */
const MIGRATIONS: readonly { readonly name: string; readonly sql: string }[] = [
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

-- The outbox: what core must hear of, as the bytes of a ReportEventRequest.
CREATE TABLE stripe.event (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id text NOT NULL UNIQUE,
  request_id uuid NOT NULL,
  message bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  reported_at timestamptz
);
CREATE INDEX event_due ON stripe.event (due_at) WHERE reported_at IS NULL;
`,
  },
];
