import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** What an identifier was used for. A checkout is an authorization that waits for a card. */
export type Kind = 'authorization' | 'checkout' | 'capture' | 'void' | 'credit' | 'fence';

/** What was asked under an identifier: the same identifier must always ask the same. */
export interface Intent {
  readonly requestId: string;
  readonly kind: Kind;
  /** The authorization that a capture or void is about. */
  readonly authorizationRequestId: string;
  readonly merchantId: string;
  readonly terminalId: string;
  readonly userId: string;
  readonly tokenId: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly finalCapture: 0 | 1;
}

/** An intent to be filled in: about no authorization, nobody and no money. */
export const NO_INTENT: Omit<Intent, 'requestId' | 'kind'> = {
  authorizationRequestId: '',
  merchantId: '',
  terminalId: '',
  userId: '',
  tokenId: '',
  amount: 0,
  currency: '',
  finalCapture: 0,
};

/** A card as far as it may be kept; last4 is empty where there is none. */
export interface KeptCard {
  readonly cardBrand: string;
  readonly cardLast4: string;
  readonly cardExpiryMonth: number;
  readonly cardExpiryYear: number;
}

/** How it ended. */
export interface Ending extends KeptCard {
  /** A name of BEHAVIOURS; empty where no card is involved. */
  readonly behaviour: string;
  /** UNSPECIFIED = an open checkout. */
  readonly answer: Answer;
  readonly reference: string;
  readonly bankReference: string;
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly generatedTokenId: string;
  /** End of an approved authorization; 0 = none. */
  readonly expiresAtMs: number;
  readonly actedAtMs: number;
}

/** One row, with its number in the order in which identifiers were first seen. */
export interface Entry extends Intent, Ending {
  readonly seq: number;
  /** Of an authorization, minor units. */
  readonly captured: number;
  /** Given back: of an authorization in all, of a void by it, minor units. */
  readonly voided: number;
  /** Taken back by the card scheme: of an authorization in all, of a capture its amount, minor units. */
  readonly reversed: number;
}

/** An ending to be filled in: nothing asked, nothing known, no card. */
export const NO_ENDING: Ending = {
  behaviour: '',
  answer: Answer.UNSPECIFIED,
  reference: '',
  bankReference: '',
  errorCode: '',
  errorMessage: '',
  cardBrand: '',
  cardLast4: '',
  cardExpiryMonth: 0,
  cardExpiryYear: 0,
  generatedTokenId: '',
  expiresAtMs: 0,
  actedAtMs: 0,
};

const ENDING_COLUMNS = Object.keys(NO_ENDING);
const COLUMNS = ['requestId', 'kind', ...Object.keys(NO_INTENT), ...ENDING_COLUMNS];

const INSERT = `INSERT INTO entry (${COLUMNS.join(', ')}, captured, voided, reversed)
  VALUES (${COLUMNS.map((name) => `:${name}`).join(', ')}, 0, :voided, 0)`;
const END = `UPDATE entry SET ${ENDING_COLUMNS.map((name) => `${name} = :${name}`).join(', ')}
  WHERE requestId = :requestId AND answer = ${Answer.UNSPECIFIED}`;

/** The entries of a database. */
export function entryTable(database: DatabaseSync) {
  const find = database.prepare('SELECT * FROM entry WHERE requestId = ?');
  const insert = database.prepare(INSERT);
  const end = database.prepare(END);
  const add = database.prepare(
    'UPDATE entry SET captured = captured + ?, voided = voided + ?, reversed = reversed + ? WHERE requestId = ?',
  );
  const page = database.prepare('SELECT * FROM entry WHERE seq > ? ORDER BY seq LIMIT ?');
  const pageOfOne = database.prepare(
    `SELECT * FROM (SELECT * FROM entry WHERE requestId = :id UNION ALL
       SELECT * FROM entry WHERE authorizationRequestId = :id AND authorizationRequestId <> '')
     WHERE seq > :after ORDER BY seq LIMIT :limit`,
  );
  return {
    find: (requestId: string) => find.get(requestId) as unknown as Entry | undefined,
    /** Adds a row; for a void, with what it gave back. */
    insert(intent: Intent, ending: Ending, voided = 0): void {
      insert.run({ ...intent, ...ending, voided });
    },
    /** Ends an open checkout; it must be open. */
    end(requestId: string, ending: Ending): void {
      assert.equal(end.run({ requestId, ...ending }).changes, 1, 'only an open checkout can end');
    },
    /** Moves the sums of a row. */
    add(requestId: string, sums: { captured?: number; voided?: number; reversed?: number }): void {
      const { changes } = add.run(sums.captured ?? 0, sums.voided ?? 0, sums.reversed ?? 0, requestId);
      assert.equal(changes, 1);
    },
    /** Entries after a number, oldest first; those of one authorization when it is named. */
    list(from: { after: number; limit: number; authorizationRequestId?: string }): Entry[] {
      const { after, limit, authorizationRequestId: id } = from;
      return (id ? pageOfOne.all({ id, after, limit }) : page.all(after, limit)) as unknown as Entry[];
    },
  };
}
