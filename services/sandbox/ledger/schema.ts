/**
 * The tables of the sandbox's ledger. Amounts are minor units (below 2^53), times milliseconds since 1970. `entry`
 * holds what was done under each of Holdfast's identifiers, a refused (fenced) one too; no row is deleted, so an
 * identifier is remembered for ever. The sums of an authorization are in its own row, where a CHECK guards them. A
 * checkout may try several cards; `cardTry` holds the latest. `ledger` names this ledger for ever.
 */
export const SCHEMA = `
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY,
  requestId TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('authorization', 'checkout', 'capture', 'void',
    'increment', 'extension', 'refund', 'credit', 'fence')),
  authorizationRequestId TEXT NOT NULL,
  captureRequestId TEXT NOT NULL DEFAULT '',
  merchantId TEXT NOT NULL,
  account TEXT NOT NULL DEFAULT '',
  terminalId TEXT NOT NULL,
  userId TEXT NOT NULL,
  tokenId TEXT NOT NULL,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  finalCapture INTEGER NOT NULL,
  operationRequestId TEXT NOT NULL DEFAULT '',
  merchantReference TEXT NOT NULL DEFAULT '',
  memo TEXT NOT NULL DEFAULT '',
  behaviour TEXT NOT NULL,
  answer INTEGER NOT NULL,
  reference TEXT NOT NULL,
  bankReference TEXT NOT NULL,
  errorCode TEXT NOT NULL,
  errorMessage TEXT NOT NULL,
  cardBrand TEXT NOT NULL,
  cardLast4 TEXT NOT NULL,
  cardExpiryMonth INTEGER NOT NULL,
  cardExpiryYear INTEGER NOT NULL,
  funding TEXT NOT NULL,
  threeDSecure TEXT NOT NULL,
  declineCode TEXT NOT NULL,
  generatedTokenId TEXT NOT NULL,
  expiresAtMs INTEGER NOT NULL,
  expectedByMs INTEGER NOT NULL DEFAULT 0,
  actedAtMs INTEGER NOT NULL,
  captured INTEGER NOT NULL DEFAULT 0 CHECK (captured >= 0),
  voided INTEGER NOT NULL DEFAULT 0 CHECK (voided >= 0),
  reversed INTEGER NOT NULL DEFAULT 0 CHECK (reversed >= 0),
  incremented INTEGER NOT NULL DEFAULT 0 CHECK (incremented >= 0),
  refunded INTEGER NOT NULL DEFAULT 0 CHECK (refunded >= 0),
  pending INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
  extendedToMs INTEGER NOT NULL DEFAULT 0,
  endedAtMs INTEGER NOT NULL DEFAULT 0,
  changedAtMs INTEGER NOT NULL,
  CHECK (kind NOT IN ('authorization', 'checkout') OR
    (captured + voided + pending <= amount + incremented AND reversed + refunded <= captured)),
  CHECK (kind <> 'capture' OR reversed + refunded <= amount)
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
  behaviour TEXT NOT NULL,
  errorCode TEXT NOT NULL,
  cardBrand TEXT NOT NULL,
  cardLast4 TEXT NOT NULL,
  cardExpiryMonth INTEGER NOT NULL,
  cardExpiryYear INTEGER NOT NULL
) STRICT;

CREATE TABLE token (
  tokenId TEXT PRIMARY KEY,
  merchantId TEXT NOT NULL,
  behaviour TEXT NOT NULL,
  cardBrand TEXT NOT NULL,
  cardLast4 TEXT NOT NULL,
  cardExpiryMonth INTEGER NOT NULL,
  cardExpiryYear INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
  eventId TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('checkoutCompleted', 'operationSettled', 'captureReversed',
    'captureReinstated', 'authorizationEnded')),
  requestId TEXT NOT NULL,
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

/** The number of this schema in the file (user_version). */
export const SCHEMA_VERSION = 9;
