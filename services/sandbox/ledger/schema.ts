import { NO_ENDING, NO_INTENT } from './entry.ts';

/** The columns of fields with such default values. */
function columnsOf(defaults: object): string {
  const columns = Object.entries(defaults).map(([name, value]) => {
    return `${name} ${typeof value === 'number' ? 'INTEGER' : 'TEXT'} NOT NULL`;
  });
  return columns.join(', ');
}

const CARD_COLUMNS = `behaviour TEXT NOT NULL,
  cardBrand TEXT NOT NULL,
  cardLast4 TEXT NOT NULL,
  cardExpiryMonth INTEGER NOT NULL,
  cardExpiryYear INTEGER NOT NULL`;

/**
 * The tables of the sandbox's ledger. Amounts are minor units (below 2^53), times milliseconds since 1970. `entry`
 * holds what was done under each of Holdfast's identifiers, a refused (fenced) one too; no row is deleted, so an
 * identifier is remembered for ever. The sums of an authorization are in its own row, where a CHECK guards them. A
 * checkout may try several cards; `cardTry` holds the latest. `ledger` names this ledger for ever.
 */
export const SCHEMA = `
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('authorization', 'checkout', 'capture', 'void',
    'increment', 'decrease', 'extension', 'refund', 'credit', 'fence')),
  ${columnsOf(NO_INTENT)},
  ${columnsOf(NO_ENDING)},
  captured INTEGER NOT NULL DEFAULT 0,
  reversed INTEGER NOT NULL DEFAULT 0,
  incremented INTEGER NOT NULL DEFAULT 0,
  refunded INTEGER NOT NULL DEFAULT 0,
  returned INTEGER NOT NULL DEFAULT 0,
  extendedToMs INTEGER NOT NULL DEFAULT 0,
  endedAtMs INTEGER NOT NULL DEFAULT 0,
  changedAtMs INTEGER NOT NULL,
  UNIQUE (requestId),
  CHECK (min(captured, voided, reversed, incremented, refunded, returned, pending) >= 0),
  CHECK (kind NOT IN ('authorization', 'checkout') OR
    (captured + voided + pending <= amount + incremented AND max(reversed, refunded) <= captured)),
  CHECK (kind <> 'capture' OR max(reversed, refunded) <= amount),
  CHECK (returned <= amount)
) STRICT;
CREATE INDEX entryOfAuthorization ON entry (authorizationRequestId, seq) WHERE authorizationRequestId <> '';
CREATE INDEX entryChanged ON entry (changedAtMs, seq);

CREATE TABLE checkout (
  requestId TEXT PRIMARY KEY,
  capabilityHash BLOB NOT NULL UNIQUE,
  merchantName TEXT NOT NULL,
  merchantReference TEXT NOT NULL,
  description TEXT NOT NULL,
  returnUrl TEXT NOT NULL,
  saveCard INTEGER NOT NULL,
  expiresAtMs INTEGER NOT NULL
) STRICT;

CREATE TABLE cardTry (
  requestId TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('challenged', 'declined')),
  errorCode TEXT NOT NULL,
  ${CARD_COLUMNS}
) STRICT;

CREATE TABLE token (
  tokenId TEXT PRIMARY KEY,
  merchantId TEXT NOT NULL,
  ${CARD_COLUMNS}
) STRICT;

CREATE TABLE event (
  eventId TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('checkoutCompleted', 'operationSettled', 'captureReversed',
    'captureReinstated', 'authorizationEnded', 'refundReturned', 'creditReturned')),
  requestId TEXT NOT NULL,
  stage INTEGER NOT NULL,
  occurredAtMs INTEGER NOT NULL,
  amount INTEGER NOT NULL DEFAULT 0,
  dueAtMs INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  reportedAtMs INTEGER
) STRICT;
CREATE INDEX eventDue ON event (dueAtMs) WHERE reportedAtMs IS NULL;

CREATE TABLE ledger (identity TEXT NOT NULL) STRICT;
INSERT INTO ledger (identity) VALUES ('sandbox-' || lower(hex(randomblob(16))));
`;

/** The number of this schema in the file (user_version). A new one for each change, of the fields of entries too. */
export const SCHEMA_VERSION = 15;
