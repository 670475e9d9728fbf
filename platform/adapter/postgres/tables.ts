/**
 * The tables that the ledgers of all adapters have. What they compose is in migrations, so the SQL of a table that was
 * released does not change; later changes are migrations of their own.
 */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** SQL: an entry has not ended; it was not answered, or was accepted only. */
export const OPEN = `answer IN (${Answer.UNSPECIFIED}, ${Answer.ACCEPTED})`;

/** The columns that every table `entry` has: those of intents and of states. Amounts are ISO 4217 minor units. */
export const ENTRY_COLUMNS = `sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request_id uuid NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('authorization', 'checkout', 'capture', 'void', 'increment', 'extension',
    'refund', 'credit', 'fence')),
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
  merchant_reference text NOT NULL,
  operation_request_id text NOT NULL DEFAULT '',
  memo text NOT NULL DEFAULT '',
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
  funding text NOT NULL DEFAULT '',
  three_d_secure text NOT NULL DEFAULT '',
  decline_code text NOT NULL DEFAULT '',
  generated_token_id text NOT NULL DEFAULT '',
  expires_at timestamptz,
  expected_by timestamptz,
  acted_at timestamptz,
  released bigint NOT NULL DEFAULT 0 CHECK (released >= 0),
  captured bigint NOT NULL DEFAULT 0 CHECK (captured >= 0),
  voided bigint NOT NULL DEFAULT 0 CHECK (voided >= 0),
  incremented bigint NOT NULL DEFAULT 0 CHECK (incremented >= 0),
  refunded bigint NOT NULL DEFAULT 0 CHECK (refunded >= 0),
  reversed bigint NOT NULL DEFAULT 0 CHECK (reversed >= 0),
  ended_at timestamptz,
  ended_how smallint NOT NULL DEFAULT 0,
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CHECK (captured + voided <= amount + incremented),
  CHECK (refunded + reversed <= CASE kind WHEN 'capture' THEN amount ELSE captured END)`;

/** The columns of an entry that may change, as it is listed. */
const SHOWN = [
  ...['kind', 'answer', 'reference', 'error_code', 'amount', 'currency', 'released', 'acted_at', 'ended_at'],
  ...['captured', 'voided', 'incremented', 'refunded', 'reversed'],
];
const shown = (row: string) => `(${SHOWN.map((name) => `${row}.${name}`).join(', ')})`;

/** What every ledger has besides the table `entry`: its indexes, and the other tables. */
export const LEDGER_TABLES = `
CREATE INDEX entry_of_authorization ON entry (authorization_request_id, sequence);
CREATE INDEX entry_open ON entry (sequence) WHERE ${OPEN};

-- Entries are listed by their last change; a trigger, so that no statement can forget the time.
CREATE INDEX entry_changed ON entry (changed_at, sequence);
CREATE FUNCTION entry_changes() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN NEW.changed_at := clock_timestamp(); RETURN NEW; END';
CREATE TRIGGER entry_changes BEFORE UPDATE ON entry FOR EACH ROW
  WHEN (${shown('OLD')} IS DISTINCT FROM ${shown('NEW')}) EXECUTE FUNCTION entry_changes();

-- Money that left otherwise than by a refund of ours. An odd turn took the amount, an even one gave it again.
CREATE TABLE reversal (
  reversal_id text PRIMARY KEY,
  authorization_request_id uuid NOT NULL,
  capture_request_id uuid,
  amount bigint NOT NULL CHECK (amount > 0),
  turn integer NOT NULL
);
CREATE INDEX reversal_of_authorization ON reversal (authorization_request_id);

-- What the processor announced: each key is dealt with once, however often it comes.
CREATE TABLE inbox (
  key text PRIMARY KEY,
  item jsonb NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  done_at timestamptz
);
CREATE INDEX inbox_due ON inbox (due_at) WHERE done_at IS NULL;

-- What core must hear of, as the bytes of a ReportEventRequest.
CREATE TABLE event (
  sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id text NOT NULL UNIQUE,
  request_id uuid NOT NULL,
  message bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  reported_at timestamptz
);
CREATE INDEX event_due ON event (due_at) WHERE reported_at IS NULL;
`;

/**
 * What came back of refunds and credits. What the card scheme takes back and what is refunded are bounded each by
 * itself: the scheme may take back what was refunded before.
 */
export const RETURNED = `
ALTER TABLE entry
  ADD COLUMN returned bigint NOT NULL DEFAULT 0 CHECK (returned BETWEEN 0 AND amount),
  DROP CONSTRAINT entry_check1,
  ADD CHECK (refunded <= CASE kind WHEN 'capture' THEN amount ELSE captured END),
  ADD CHECK (reversed <= CASE kind WHEN 'capture' THEN amount ELSE captured END);
CREATE OR REPLACE TRIGGER entry_changes BEFORE UPDATE ON entry FOR EACH ROW
  WHEN ((${shown('OLD')}, OLD.returned) IS DISTINCT FROM (${shown('NEW')}, NEW.returned))
  EXECUTE FUNCTION entry_changes();
`;

/** A part of an authorization may be given back. Rows follow the rule already. */
export const DECREASED = `
ALTER TABLE entry
  DROP CONSTRAINT entry_kind_check,
  ADD CONSTRAINT entry_kind_check CHECK (kind IN ('authorization', 'checkout', 'capture', 'void', 'increment',
    'decrease', 'extension', 'refund', 'credit', 'fence')) NOT VALID;
`;

/** The card network's identifier of an authorization. */
export const NETWORK_TRANSACTION = `
ALTER TABLE entry ADD COLUMN network_transaction_id text NOT NULL DEFAULT '';
`;

/** The authorization that an authorization renews. */
export const RENEWS = `
ALTER TABLE entry ADD COLUMN renews text NOT NULL DEFAULT '';
`;

/** Finds captures by somebody else that core has not taken, which other events about the authorization wait for. */
export const FOREIGN_FIRST = `
CREATE INDEX event_foreign ON event (request_id) WHERE reported_at IS NULL AND event_id LIKE 'foreign-%';
`;

/** The table that names the history of the cluster that a ledger stands in (`completeSince()`). */
export const HISTORY_TABLE = `
-- Of which history of which cluster this ledger is, and since when it has every identifier that was seen.
CREATE TABLE ledger (
  history text NOT NULL,
  complete_since timestamptz NOT NULL
);
`;
