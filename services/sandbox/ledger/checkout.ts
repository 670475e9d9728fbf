import type { DatabaseSync } from 'node:sqlite';

/** A hosted page. Its result is in the entry with the same identifier. */
export interface Checkout {
  readonly requestId: string;
  /** SHA-256 of the capability in its address. */
  readonly capabilityHash: Uint8Array;
  readonly merchantName: string;
  /** The merchant's reference of the order, shown to the customer; empty = none. */
  readonly merchantReference: string;
  /** Where the customer goes afterwards; empty = a closing page. */
  readonly returnUrl: string;
  readonly saveCard: 0 | 1;
  readonly expiresAtMs: number;
}

/** The checkouts of a database. */
export function checkoutTable(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO checkout (requestId, capabilityHash, merchantName, merchantReference, returnUrl, saveCard, expiresAtMs)
     VALUES (:requestId, :capabilityHash, :merchantName, :merchantReference, :returnUrl, :saveCard, :expiresAtMs)`,
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
