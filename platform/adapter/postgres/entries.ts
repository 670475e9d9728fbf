/** The entries of a ledger: one row for each identifier of Holdfast, a fenced one too. None is ever deleted. */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Kind, keptFields, type Listed, type Listing, NO_RESULT } from '../entry.ts';
import { type Recalled, reuseRefusal } from '../identifier.ts';
import { OutcomeUnknown } from '../serve.ts';
import type { Query } from './database.ts';
import type { Schema } from './migrate.ts';

/** Default values of what was asked under an identifier. */
export const NO_INTENT = {
  requestId: '',
  /** The authorization that it is about; null for authorizations, credits and fences. */
  authorizationRequestId: null as string | null,
  /** The capture that a refund is about. */
  captureRequestId: null as string | null,
  /** The authorization that an authorization renews; empty = none. */
  renews: '',
  merchantId: '',
  /** The merchant's account at the processor; empty = the adapter's own. */
  account: '',
  terminalId: '',
  userId: '',
  tokenId: '',
  /** Minor units. */
  amount: 0n,
  currency: '',
  finalCapture: false,
  /** What core keeps here for the case that it loses it; of repetitions the first stays. */
  merchantReference: '',
  operationRequestId: '',
  memo: '',
};

/** What was asked under an identifier: the same identifier must always ask the same. */
export interface Intent extends Readonly<typeof NO_INTENT> {
  readonly kind: Kind;
}

/** What a request asks. */
export function intentOf(kind: Kind, request: object): Intent {
  return { ...keptFields(NO_INTENT, request), kind };
}

/** Whose an authorization is, as an operation on it says it. */
export function aboutOf({ requestId: authorizationRequestId, ...authorization }: Intent) {
  const { merchantId, account, currency, terminalId, userId, tokenId } = authorization;
  return { authorizationRequestId, merchantId, account, currency, terminalId, userId, tokenId };
}

/** Default values of a state. */
export const NO_STATE = {
  ...NO_RESULT,
  /** When it was first sent, or was about to be. */
  sentAt: null as Date | null,
  /** When it ended, or was accepted. */
  actedAt: null as Date | null,
  expiresAt: null as Date | null,
  expectedBy: null as Date | null,
  /** Given back of the reservation by this capture or void, minor units. */
  released: 0n,
  /** Of an authorization: charged, given back, added, refunded, taken back. Of a capture: refunded, taken back. */
  captured: 0n,
  voided: 0n,
  incremented: 0n,
  refunded: 0n,
  reversed: 0n,
  /** Of a refund or credit: what came back of it. */
  returned: 0n,
  /** When, and how (AuthorizationEnd), somebody else ended an authorization. */
  endedAt: null as Date | null,
  endedHow: 0,
};

/** What became of it. Its answer is UNSPECIFIED until it ended, or was accepted. */
export type State = Readonly<typeof NO_STATE>;

/**
 * What an operation did in truth, as far as the books can hold it, minor units: less than was asked for where the
 * processor said so (`amountDone`, which not every ledger has).
 */
export function doneOf({
  amount,
  amountDone,
}: Pick<Intent, 'amount'> & { readonly amountDone?: bigint | null }): bigint {
  return amountDone != null && amountDone < amount ? amountDone : amount;
}

/** The amount of an entry as it is listed: of a void what it gave back, of what was done what was done in truth. */
function shownAmount(entry: Intent & State & { readonly amountDone?: bigint | null }): bigint {
  if (entry.kind === 'void') return entry.released;
  return entry.answer === Answer.APPROVED ? (entry.amountDone ?? entry.amount) : entry.amount;
}

/** Whether it has not ended: it was not answered, or was accepted only. */
export function isOpen({ answer }: Pick<State, 'answer'>): boolean {
  return answer === Answer.UNSPECIFIED || answer === Answer.ACCEPTED;
}

/** What the table says of each row. */
export interface Numbered {
  /** Its number in the order in which identifiers were first seen. */
  readonly sequence: bigint;
  /** When it last changed. */
  readonly changedAt: Date;
}

/** Fields of an entry that change; undefined = it stays. */
export type Change<E> = { readonly [Field in keyof E]?: E[Field] | undefined };

/** A field's column: `requestId` is `request_id`. */
const column = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Reads and writes the table `entry` of a ledger. `defaults` are those of its states, and of what its intents say
 * besides.
 */
export function openEntries<E extends Intent & State & Numbered>(
  { orderLock }: Schema,
  defaults: Omit<E, keyof Intent | keyof Numbered>,
) {
  const fields = ['kind', ...Object.keys(NO_INTENT), ...Object.keys(defaults)] as (keyof E & string)[];
  const columns = ['sequence', 'changedAt', ...fields].map((field) => `${column(field)} AS "${field}"`).join(', ');
  /** Reads the entries for which a condition holds. */
  const select = (query: Query, where: string, values: readonly unknown[]) =>
    query<E>(`SELECT ${columns} FROM entry WHERE ${where}`, values);
  const only = `($3 = '' OR merchant_id = $3) AND ($4 = '' OR account = $4)
      AND ($5::uuid IS NULL OR request_id = $5 OR authorization_request_id = $5)`;
  const page = `sequence > $1 AND ${only} ORDER BY sequence LIMIT $2`;
  const changed = `(changed_at, sequence) > (to_timestamp($6::double precision / 1000)::timestamptz(3), $1) AND ${only}
      ORDER BY changed_at, sequence LIMIT $2`;
  // The lock is taken before the sequence, and kept to the end of the transaction: who lists entries misses none.
  const insert = `WITH line AS MATERIALIZED (SELECT pg_advisory_xact_lock(${orderLock}))
      INSERT INTO entry (${fields.map(column).join(', ')})
      SELECT ${fields.map((_, index) => `$${index + 1}`).join(', ')} FROM line
      ON CONFLICT (request_id) DO NOTHING RETURNING ${columns}`;
  return {
    select,
    /** The entry of an identifier. */
    async find(query: Query, requestId: string): Promise<E | undefined> {
      return (await select(query, 'request_id = $1', [requestId]))[0];
    },
    /** The entry of an identifier, which nobody else changes until the end of the transaction. */
    async lock(query: Query, requestId: string): Promise<E | undefined> {
      return (await select(query, 'request_id = $1 FOR UPDATE', [requestId]))[0];
    },
    /** What was done about an authorization, oldest first. */
    ofAuthorization: (query: Query, requestId: string) =>
      select(query, 'authorization_request_id = $1 ORDER BY sequence', [requestId]),
    /** A page of the entries. */
    async list(query: Query, { after, changedAfterMs, limit, ...only }: Listing): Promise<Listed[]> {
      const values = [after, limit, only.merchantId, only.account, only.authorizationRequestId || null];
      const isByNumber = changedAfterMs === undefined;
      const entries = await (isByNumber
        ? select(query, page, values)
        : select(query, changed, [...values, changedAfterMs]));
      return entries.map((entry) => ({ ...entry, amount: shownAmount(entry) }));
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
    /** What was stored under the identifier of an intent; undefined when it is new. */
    async recall(query: Query, intent: Intent): Promise<Recalled<E> | undefined> {
      const entry = await this.find(query, intent.requestId);
      if (!entry) return undefined;
      const refused = reuseRefusal(entry, intent);
      return refused ? { refused } : { entry, fresh: false };
    },
    /** Stores an intent with what is known of it, or finds what was stored under its identifier. */
    async store(query: Query, intent: Intent, state: Partial<E> = {}): Promise<Recalled<E>> {
      const entry = await this.insert(query, intent, state);
      if (entry) return { entry, fresh: true };
      const known = await this.recall(query, intent);
      if (!known) throw new OutcomeUnknown('the entry is not to be read');
      return known;
    },
    /** Changes the given fields of the entry for which a condition holds; undefined when it holds for none. */
    async update(query: Query, where: string, values: readonly unknown[], change: Change<E>): Promise<E | undefined> {
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      const changes = given.map(([field], index) => `${column(field)} = $${values.length + index + 1}`);
      const text = `UPDATE entry SET ${changes.join(', ')} WHERE ${where} RETURNING ${columns}`;
      return (await query<E>(text, [...values, ...given.map(([, value]) => value)]))[0];
    },
  };
}
