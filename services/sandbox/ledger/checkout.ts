import type { DatabaseSync } from 'node:sqlite';
import type { KeptCard } from '../../../platform/adapter/entry.ts';
import type { BehaviourName } from '../behaviour.ts';

/** A page that a customer goes to. Its result is in the entry with the same identifier. */
export interface Checkout {
  readonly requestId: string;
  /** SHA-256 of the capability in its address. */
  readonly capabilityHash: Uint8Array;
  readonly merchantName: string;
  /** The merchant's reference of the order, shown to the customer; empty = none. */
  readonly merchantReference: string;
  /** What the hold is for, shown to the customer; empty = not said. */
  readonly description: string;
  /** Where the customer goes afterwards; empty = a closing page. */
  readonly returnUrl: string;
  readonly saveCard: 0 | 1;
  readonly expiresAtMs: number;
}

/** The checkouts of a database. */
export function checkoutTable(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO checkout (requestId, capabilityHash, merchantName, merchantReference, description, returnUrl,
        saveCard, expiresAtMs)
     VALUES (:requestId, :capabilityHash, :merchantName, :merchantReference, :description, :returnUrl, :saveCard,
        :expiresAtMs)`,
  );
  const find = database.prepare('SELECT * FROM checkout WHERE requestId = ?');
  const findByHash = database.prepare('SELECT * FROM checkout WHERE capabilityHash = ?');
  const rehash = database.prepare('UPDATE checkout SET capabilityHash = ? WHERE requestId = ?');
  return {
    insert: (checkout: Checkout) => void insert.run({ ...checkout }),
    find: (requestId: string) => find.get(requestId) as unknown as Checkout | undefined,
    findByHash: (hash: Uint8Array) => findByHash.get(hash) as unknown as Checkout | undefined,
    /** Replaces the capability: the old address stops working. */
    rehash: (requestId: string, hash: Uint8Array) => void rehash.run(hash, requestId),
  };
}

/** A card as it may be kept, and how it behaves. */
export interface Card extends KeptCard {
  readonly behaviour: BehaviourName;
}

const CARD = ['behaviour', 'cardBrand', 'cardLast4', 'cardExpiryMonth', 'cardExpiryYear'] as const;
const valuesOf = (card: Card) => CARD.map((name) => card[name]);

/**
 * The latest card of a checkout that did not end it: declined, or waiting for the customer to confirm it at its bank.
 */
export interface CardTry extends Card {
  readonly requestId: string;
  /** Numbers the cards of this checkout from 1, so that an answer to one challenge does not count for another. */
  readonly number: number;
  readonly state: 'challenged' | 'declined';
  /** Why it was declined; empty while it is challenged. */
  readonly errorCode: string;
}

/** The latest cards of a database: one row for each checkout, however many cards are tried. */
export function cardTryTable(database: DatabaseSync) {
  const put = database.prepare(
    `INSERT OR REPLACE INTO cardTry (number, requestId, state, errorCode, ${CARD.join(', ')})
     VALUES (1 + coalesce((SELECT number FROM cardTry WHERE requestId = ?1), 0), ?1, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = database.prepare('SELECT * FROM cardTry WHERE requestId = ?');
  const drop = database.prepare('DELETE FROM cardTry WHERE requestId = ?');
  return {
    /** Replaces the checkout's latest card: one that is challenged, or was declined with an error code. */
    put: (requestId: string, card: Card, errorCode = '') =>
      void put.run(requestId, errorCode ? 'declined' : 'challenged', errorCode, ...valuesOf(card)),
    find: (requestId: string) => find.get(requestId) as unknown as CardTry | undefined,
    /** Forgets the card of what waited for its customer. */
    drop: (requestId: string) => void drop.run(requestId),
  };
}

/** The tokens of a database: cards that customers saved with a merchant at a checkout. No other merchant finds them. */
export function tokenTable(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO token (tokenId, merchantId, ${CARD.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = database.prepare('SELECT * FROM token WHERE tokenId = ? AND merchantId = ?');
  return {
    insert: (tokenId: string, merchantId: string, card: Card) =>
      void insert.run(tokenId, merchantId, ...valuesOf(card)),
    find: (tokenId: string, merchantId: string) => find.get(tokenId, merchantId) as unknown as Card | undefined,
  };
}
