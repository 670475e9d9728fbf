/** The entries of a ledger: one row for each identifier of Holdfast, a fenced one too. None is ever deleted. */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type KeptResult, type Kind, keptFields, type Listed, type Listing, NO_RESULT } from '../entry.ts';
import type { Query, Statement } from './database.ts';

/** What was asked under an identifier: the same identifier must always ask the same. */
export interface Intent {
  readonly requestId: string;
  readonly kind: Kind;
  /** The authorization that it is about; null for authorizations, credits and fences. */
  readonly authorizationRequestId: string | null;
  /** The capture that a refund is about. */
  readonly captureRequestId: string | null;
  readonly merchantId: string;
  /** The merchant's account at the processor; empty = the adapter's own. */
  readonly account: string;
  readonly terminalId: string;
  readonly userId: string;
  readonly tokenId: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  readonly finalCapture: boolean;
  /** What core keeps here for the case that it loses it; of repetitions the first stays. */
  readonly merchantReference: string;
  readonly operationRequestId: string;
  readonly memo: string;
}

/** Default values of an intent. */
export const NO_INTENT: Omit<Intent, 'kind'> = {
  requestId: '',
  authorizationRequestId: null,
  captureRequestId: null,
  merchantId: '',
  account: '',
  terminalId: '',
  userId: '',
  tokenId: '',
  amount: 0n,
  currency: '',
  finalCapture: false,
  merchantReference: '',
  operationRequestId: '',
  memo: '',
};

/** What a request asks. */
export function intentOf(kind: Kind, request: object): Intent {
  return { ...keptFields(NO_INTENT, request), kind };
}

/** Whose an authorization is, as an operation on it says it. */
export function aboutOf(authorization: Intent) {
  const {
    requestId: authorizationRequestId,
    merchantId,
    account,
    currency,
    terminalId,
    userId,
    tokenId,
  } = authorization;
  return { authorizationRequestId, merchantId, account, currency, terminalId, userId, tokenId };
}

/** What became of it. Its answer is UNSPECIFIED until it ended, or was accepted. */
export interface State extends KeptResult {
  /** When it was first sent, or was about to be. */
  readonly sentAt: Date | null;
  /** When it ended, or was accepted. */
  readonly actedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly expectedBy: Date | null;
  /** Given back of the reservation by this capture or void, minor units. */
  readonly released: bigint;
  /** Of an authorization: charged, given back, added, refunded, taken back. Of a capture: refunded, taken back. */
  readonly captured: bigint;
  readonly voided: bigint;
  readonly incremented: bigint;
  readonly refunded: bigint;
  readonly reversed: bigint;
  /** When, and how (AuthorizationEnd), somebody else ended an authorization. */
  readonly endedAt: Date | null;
  readonly endedHow: number;
}

/** Default values of a state. */
export const NO_STATE: State = {
  ...NO_RESULT,
  sentAt: null,
  actedAt: null,
  expiresAt: null,
  expectedBy: null,
  released: 0n,
  captured: 0n,
  voided: 0n,
  incremented: 0n,
  refunded: 0n,
  reversed: 0n,
  endedAt: null,
  endedHow: 0,
};

/** The columns of these fields, for CREATE TABLE. */
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

/** What lists entries by their last change: an index, and a trigger, so that no statement can forget the time. */
export function entryChanges(schema: string): string {
  const shown = (row: string) => `(${SHOWN.map((name) => `${row}.${name}`).join(', ')})`;
  return `
CREATE INDEX entry_changed ON ${schema}.entry (changed_at, sequence);
CREATE FUNCTION ${schema}.entry_changes() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN NEW.changed_at := clock_timestamp(); RETURN NEW; END';
CREATE TRIGGER entry_changes BEFORE UPDATE ON ${schema}.entry FOR EACH ROW
  WHEN (${shown('OLD')} IS DISTINCT FROM ${shown('NEW')}) EXECUTE FUNCTION ${schema}.entry_changes();
`;
}

/** The columns of an entry that may change, as it is listed. */
const SHOWN = [
  ...['kind', 'answer', 'reference', 'error_code', 'amount', 'currency', 'released', 'acted_at', 'ended_at'],
  ...['captured', 'voided', 'incremented', 'refunded', 'reversed'],
];

/** Whether it has not ended: it was not answered, or was accepted only. */
export function isOpen({ answer }: Pick<State, 'answer'>): boolean {
  return answer === Answer.UNSPECIFIED || answer === Answer.ACCEPTED;
}

/** SQL: the same. */
export const OPEN = `answer IN (${Answer.UNSPECIFIED}, ${Answer.ACCEPTED})`;

/** The indexes that every table `entry` has. */
export function entryIndexes(schema: string): string {
  return `
CREATE INDEX entry_of_authorization ON ${schema}.entry (authorization_request_id, sequence);
CREATE INDEX entry_open ON ${schema}.entry (sequence) WHERE ${OPEN};
`;
}

/** A field's column: `requestId` is `request_id`. */
export const column = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What the table says of each row. */
export interface Numbered {
  /** Its number in the order in which identifiers were first seen. */
  readonly sequence: bigint;
  /** When it last changed. */
  readonly changedAt: Date;
}

/**
 * Reads and writes the table `entry` of a ledger. `defaults` are those of its states, and of what its intents say
 * besides; `orderLock` is the key of an advisory lock of this ledger alone.
 */
export function openEntries<E extends Intent & State & Numbered>(
  schema: string,
  defaults: Omit<E, keyof Intent | keyof Numbered>,
  orderLock: number,
) {
  const fields = ['kind', ...Object.keys(NO_INTENT), ...Object.keys(defaults)] as (keyof E & string)[];
  const columns = ['sequence', 'changedAt', ...fields].map((field) => `${column(field)} AS "${field}"`).join(', ');
  const select = (name: string, where: string): Statement => {
    return { name, text: `SELECT ${columns} FROM ${schema}.entry WHERE ${where}` };
  };
  const one = (statement: Statement) => async (query: Query, key: string) => (await query<E>(statement, [key]))[0];
  const ofAuthorization = select('entries_of_authorization', 'authorization_request_id = $1 ORDER BY sequence');
  const only = `($3 = '' OR merchant_id = $3) AND ($4 = '' OR account = $4)
      AND ($5::uuid IS NULL OR request_id = $5 OR authorization_request_id = $5)`;
  const page = select('page_of_entries', `sequence > $1 AND ${only} ORDER BY sequence LIMIT $2`);
  const changed = select(
    'page_of_changed_entries',
    `(changed_at, sequence) > (to_timestamp($6::double precision / 1000)::timestamptz(3), $1) AND ${only}
      ORDER BY changed_at, sequence LIMIT $2`,
  );
  const insert: Statement = {
    name: 'insert_entry',
    // The lock is taken before the sequence, and kept to the end of the transaction: who lists entries misses none.
    text: `WITH line AS MATERIALIZED (SELECT pg_advisory_xact_lock(${orderLock}))
      INSERT INTO ${schema}.entry (${fields.map(column).join(', ')})
      SELECT ${fields.map((_, index) => `$${index + 1}`).join(', ')} FROM line
      ON CONFLICT (request_id) DO NOTHING RETURNING ${columns}`,
  };
  const save: Statement = {
    name: 'save_entry',
    text: `UPDATE ${schema}.entry SET ${fields.map((field, index) => `${column(field)} = $${index + 1}`).join(', ')}
      WHERE request_id = $${fields.length + 1}`,
  };
  return {
    columns,
    select,
    /** The entry of an identifier. */
    find: one(select('find_entry', 'request_id = $1')),
    /** The entry of an identifier, which nobody else changes until the end of the transaction. */
    lock: one(select('lock_entry', 'request_id = $1 FOR UPDATE')),
    /** What was done about an authorization, oldest first. */
    ofAuthorization: (query: Query, requestId: string) => query<E>(ofAuthorization, [requestId]),
    /** A page of the entries: the amount of a void is what it gave back. */
    async list(query: Query, { after, changedAfterMs, limit, ...only }: Listing): Promise<Listed[]> {
      const values = [after, limit, only.merchantId, only.account, only.authorizationRequestId || null];
      const isByNumber = changedAfterMs === undefined;
      const entries = await (isByNumber ? query<E>(page, values) : query<E>(changed, [...values, changedAfterMs]));
      return entries.map((entry) => ({ ...entry, amount: entry.kind === 'void' ? entry.released : entry.amount }));
    },
    /** Stores an intent with what is known of it; undefined when the identifier is known already. */
    async insert(query: Query, intent: Intent, state: Partial<E> = {}): Promise<E | undefined> {
      const row = { ...defaults, ...state, ...intent } as E;
      const [entry] = await query<E>(
        insert,
        fields.map((field) => row[field]),
      );
      return entry;
    },
    /** Writes a row. Its authorization, or the row itself when it is about none, must be locked. */
    async save(query: Query, entry: E): Promise<E> {
      await query(save, [...fields.map((field) => entry[field]), entry.requestId]);
      return entry;
    },
  };
}
