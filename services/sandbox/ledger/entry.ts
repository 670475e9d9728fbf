import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { type Kind, keptFields, type Listing, NO_RESULT } from '../../../platform/adapter/entry.ts';
import * as base from '../../../platform/adapter/postgres/entries.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { BehaviourName } from '../behaviour.ts';

/** What was asked under an identifier; empty where it says nothing. Amounts are minor units. */
export type Intent = { readonly kind: Kind } & Readonly<typeof NO_INTENT>;

/** Default values of an intent. */
export const NO_INTENT = {
  ...base.NO_INTENT,
  amount: 0,
  /** 1 = a final capture. */
  finalCapture: 0,
  authorizationRequestId: '',
  captureRequestId: '',
};

/** What a request asks. */
export function intentOf(kind: Kind, request: object): Intent {
  const kept = keptFields(NO_INTENT, request);
  return { ...kept, kind, amount: Number(kept.amount), finalCapture: kept.finalCapture ? 1 : 0 };
}

/** The result: UNSPECIFIED = an open checkout; ACCEPTED = it ends later. */
export type Ending = Readonly<typeof NO_ENDING>;

/** Default values of an ending. */
export const NO_ENDING = {
  ...NO_RESULT,
  /** Empty when no card is involved. */
  behaviour: '' as BehaviourName | '',
  /** End of an approved authorization, or the end that an extension gave it; 0 = none. */
  expiresAtMs: 0,
  /** When an accepted operation has ended, unless something is wrong; 0 = it was not accepted. */
  expectedByMs: 0,
  actedAtMs: 0,
  /** Given back: of an authorization in all, of a void or capture by it, minor units. */
  voided: 0,
  /** Reserved by accepted operations that have not ended: of such an operation, and of the row that it takes from. */
  pending: 0,
};

/** One row, with its number in the order in which identifiers were first seen. */
export interface Entry extends Intent, Ending {
  readonly seq: number;
  /** Of an authorization, minor units. */
  readonly captured: number;
  /** Taken back by the card scheme, and not reinstated: of an authorization or capture, minor units. */
  readonly reversed: number;
  /** Of an authorization, minor units. */
  readonly incremented: number;
  /** Of an authorization or capture, less what came back, minor units. */
  readonly refunded: number;
  /** What came back of a refund or credit, minor units. */
  readonly returned: number;
  /** The end that extensions gave the authorization; 0 = none did. */
  readonly extendedToMs: number;
  /** When somebody else ended the authorization; 0 = nobody did. */
  readonly endedAtMs: number;
  /** When it last changed. */
  readonly changedAtMs: number;
}

const ENDING_COLUMNS = Object.keys(NO_ENDING) as (keyof Ending)[];
const COLUMNS = ['kind', ...(Object.keys(NO_INTENT) as (keyof Intent)[]), ...ENDING_COLUMNS] as const;
const SUMS = ['captured', 'voided', 'reversed', 'incremented', 'refunded', 'returned', 'pending'] as const;

// Values by place are stored in a third of the time of values by name.
const INSERT = `INSERT INTO entry (${COLUMNS.join(', ')}, changedAtMs)
  VALUES (${COLUMNS.map(() => '?').join(', ')}, ?)`;
const END = `UPDATE entry SET ${ENDING_COLUMNS.map((name) => `${name} = ?`).join(', ')}, changedAtMs = ?
  WHERE requestId = ? AND answer IN (${Answer.UNSPECIFIED}, ${Answer.ACCEPTED})`;
const ADD = `UPDATE entry SET ${SUMS.map((name) => `${name} = ${name} + ?`).join(', ')}, changedAtMs = ?
  WHERE requestId = ?`;
const ABOUT = `(:id = '' OR requestId = :id OR authorizationRequestId = :id)`;
const ONLY = `(:merchantId = '' OR merchantId = :merchantId) AND (:account = '' OR account = :account)`;

/** The entries of a database; `now` returns milliseconds since 1970. */
export function entryTable(database: DatabaseSync, now = Date.now) {
  const find = database.prepare('SELECT * FROM entry WHERE requestId = ?');
  const insert = database.prepare(INSERT);
  const end = database.prepare(END);
  const add = database.prepare(ADD);
  const extend = database.prepare('UPDATE entry SET extendedToMs = max(extendedToMs, ?) WHERE requestId = ?');
  const endEarly = database.prepare('UPDATE entry SET endedAtMs = ?, changedAtMs = ? WHERE requestId = ?');
  const page = database.prepare(`SELECT * FROM entry WHERE seq > :after AND ${ONLY} ORDER BY seq LIMIT :limit`);
  const changed = database.prepare(
    `SELECT * FROM entry WHERE (changedAtMs, seq) > (:changedAfterMs, :after) AND ${ONLY} AND ${ABOUT}
     ORDER BY changedAtMs, seq LIMIT :limit`,
  );
  const pageOfOne = database.prepare(
    `SELECT * FROM (SELECT * FROM entry WHERE requestId = :id UNION ALL
       SELECT * FROM entry WHERE authorizationRequestId = :id AND authorizationRequestId <> '')
     WHERE seq > :after AND ${ONLY} ORDER BY seq LIMIT :limit`,
  );
  return {
    find: (requestId: string) => find.get(requestId) as unknown as Entry | undefined,
    /** An entry that something in the books names. */
    get(requestId: string): Entry {
      const entry = find.get(requestId);
      assert(entry, 'the books name an entry that is not there');
      return entry as unknown as Entry;
    },
    /** Adds a row; the sums that its ending does not say are 0. */
    insert(intent: Intent, ending: Ending): void {
      const row = { ...intent, ...ending };
      insert.run(...COLUMNS.map((name) => row[name]), now());
    },
    /** Ends an open checkout or an accepted operation; it must not have ended. */
    end(requestId: string, ending: Ending): void {
      const { changes } = end.run(...ENDING_COLUMNS.map((name) => ending[name]), now(), requestId);
      assert.equal(changes, 1, 'only what is open or accepted can end');
    },
    /** Adds to the sums of a row. */
    add(requestId: string, sums: Partial<Pick<Entry, (typeof SUMS)[number]>>): void {
      assert.equal(add.run(...SUMS.map((name) => sums[name] ?? 0), now(), requestId).changes, 1);
    },
    /** Moves the end of an authorization to a later time. */
    extend: (requestId: string, toMs: number) => void extend.run(toMs, requestId),
    /** Stores that an authorization was ended by somebody else than core. */
    endEarly: (requestId: string, endedAtMs: number) => void endEarly.run(endedAtMs, now(), requestId),
    /** A page of the entries; only those of an authorization, merchant or account when it is named. */
    list({ authorizationRequestId: id, changedAfterMs, ...only }: Listing): Entry[] {
      if (changedAfterMs !== undefined) return changed.all({ id, changedAfterMs, ...only }) as unknown as Entry[];
      return (id ? pageOfOne.all({ id, ...only }) : page.all({ ...only })) as unknown as Entry[];
    },
  };
}
