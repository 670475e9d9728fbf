/** The tables of the sandbox's ledger. */

const CARD = `  cardBrand TEXT NOT NULL,
  cardLast4 TEXT NOT NULL,
  cardExpiryMonth INTEGER NOT NULL,
  cardExpiryYear INTEGER NOT NULL`;

/** Columns that `entry` has had from the beginning. */
const OPERATION = `  terminalId TEXT NOT NULL,
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
${CARD},
  generatedTokenId TEXT NOT NULL,
  expiresAtMs INTEGER NOT NULL`;

/**
 * Amounts are minor units (below 2^53), times milliseconds since 1970. `entry` holds what was done under each of
 * Holdfast's identifiers, a refused (fenced) one too. No row is deleted, so an identifier is remembered for ever.
 * The sums of an authorization stand in its own row, where a CHECK guards them.
 */
const FIRST = `
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY,
  requestId TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('authorization', 'checkout', 'capture', 'void', 'credit', 'fence')),
  authorizationRequestId TEXT NOT NULL,
  merchantId TEXT NOT NULL,
${OPERATION},
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
${CARD}
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

/** The reference and the latest card of a checkout, which may try several cards. */
const CHECKOUT_TRIES = `
ALTER TABLE checkout ADD COLUMN merchantReference TEXT NOT NULL DEFAULT '';

CREATE TABLE cardTry (
  requestId TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('challenged', 'declined')),
  behaviour TEXT NOT NULL,
  errorCode TEXT NOT NULL,
${CARD}
) STRICT;
`;

/** The columns of `entry` before WHOLE_CONTRACT. */
const COLUMNS_BEFORE = `seq, requestId, kind, authorizationRequestId, merchantId, terminalId, userId, tokenId, amount, currency,
  finalCapture, behaviour, answer, reference, bankReference, errorCode, errorMessage, cardBrand, cardLast4,
  cardExpiryMonth, cardExpiryYear, generatedTokenId, expiresAtMs, actedAtMs, captured, voided, reversed`;

/**
 * Increments, extensions, refunds, accepted operations, and events of five kinds. SQLite cannot change a
 * constraint, so the rows are copied to new tables. What a final capture gave back was not stored before: it is what
 * the voids of its authorization did not give back.
 */
const WHOLE_CONTRACT = `
DROP INDEX entryOfAuthorization;
DROP INDEX eventDue;
ALTER TABLE entry RENAME TO entryBefore;
ALTER TABLE event RENAME TO eventBefore;
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY,
  requestId TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('authorization', 'checkout', 'capture', 'void',
    'increment', 'extension', 'refund', 'credit', 'fence')),
  authorizationRequestId TEXT NOT NULL,
  captureRequestId TEXT NOT NULL DEFAULT '',
  merchantId TEXT NOT NULL,
  account TEXT NOT NULL DEFAULT '',
${OPERATION},
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
  CHECK (kind NOT IN ('authorization', 'checkout') OR
    (captured + voided + pending <= amount + incremented AND reversed + refunded <= captured)),
  CHECK (kind <> 'capture' OR reversed + refunded <= amount)
) STRICT;
CREATE INDEX entryOfAuthorization ON entry (authorizationRequestId, seq) WHERE authorizationRequestId <> '';

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
INSERT INTO entry (${COLUMNS_BEFORE}) SELECT ${COLUMNS_BEFORE} FROM entryBefore;
UPDATE entry SET voided = (SELECT a.voided FROM entry a WHERE a.requestId = entry.authorizationRequestId)
    - (SELECT coalesce(sum(v.voided), 0) FROM entry v
       WHERE v.kind = 'void' AND v.authorizationRequestId = entry.authorizationRequestId)
  WHERE kind = 'capture' AND finalCapture = 1 AND answer = 1;
INSERT INTO event (eventId, kind, requestId, occurredAtMs, amount, dueAtMs, attempts, reportedAtMs)
  SELECT eventId, kind, requestId, occurredAtMs,
    CASE WHEN kind = 'captureReversed' AND attempts > 0
      THEN (SELECT e.amount FROM entryBefore e WHERE e.requestId = eventBefore.requestId) ELSE 0 END,
    dueAtMs, attempts, reportedAtMs FROM eventBefore;
DROP TABLE entryBefore;
DROP TABLE eventBefore;
`;

/** Names this ledger for ever. */
const IDENTITY = `
CREATE TABLE ledger (identity TEXT NOT NULL) STRICT;
INSERT INTO ledger (identity) VALUES ('sandbox-' || lower(hex(randomblob(16))));
`;

/** The migrations, from an empty file on. New ones are appended. */
export const SCHEMA_STEPS: readonly string[] = [FIRST, CHECKOUT_TRIES, WHOLE_CONTRACT, IDENTITY];
