/** The tables of the sandbox's ledger. */

/** Raised with every change of the tables; a file of another version is refused rather than misread. */
export const SCHEMA_VERSION = 1;

/**
 * Amounts are minor units (below 2^53), times milliseconds since 1970. `entry` holds what was done under each of
 * Holdfast's identifiers, a refused (fenced) one too; nothing is ever deleted, so an identifier is known for ever.
 * The sums of an authorization stand in its own row, where a CHECK guards them.
 */
export const SCHEMA = `
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY,
  requestId TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('authorization', 'checkout', 'capture', 'void', 'credit', 'fence')),
  authorizationRequestId TEXT NOT NULL,
  merchantId TEXT NOT NULL,
  terminalId TEXT NOT NULL,
  userId TEXT NOT NULL,
  tokenId TEXT NOT NULL,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  finalCapture INTEGER NOT NULL,
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
  generatedTokenId TEXT NOT NULL,
  expiresAtMs INTEGER NOT NULL,
  actedAtMs INTEGER NOT NULL,
  captured INTEGER NOT NULL CHECK (captured >= 0),
  voided INTEGER NOT NULL CHECK (voided >= 0),
  reversed INTEGER NOT NULL CHECK (reversed >= 0),
  CHECK (kind = 'void' OR captured + voided <= amount),
  CHECK (kind = 'capture' OR reversed <= captured)
) STRICT;
CREATE INDEX entryOfAuthorization ON entry (authorizationRequestId, seq) WHERE authorizationRequestId <> '';

CREATE TABLE checkout (
  requestId TEXT PRIMARY KEY,
  capabilityHash BLOB NOT NULL UNIQUE,
  merchantName TEXT NOT NULL,
  returnUrl TEXT NOT NULL,
  saveCard INTEGER NOT NULL,
  expiresAtMs INTEGER NOT NULL
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
  kind TEXT NOT NULL CHECK (kind IN ('checkoutCompleted', 'captureReversed')),
  requestId TEXT NOT NULL,
  occurredAtMs INTEGER NOT NULL,
  dueAtMs INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  reportedAtMs INTEGER
) STRICT;
CREATE INDEX eventDue ON event (dueAtMs) WHERE reportedAtMs IS NULL;
`;
