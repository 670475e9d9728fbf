import type { DatabaseSync } from 'node:sqlite';
import type { BehaviourName } from '../behaviour.ts';
import type { KeptCard } from './entry.ts';

/** A card that a customer saved with a merchant. */
export interface Token extends KeptCard {
  readonly tokenId: string;
  /** No other merchant can use it. */
  readonly merchantId: string;
  readonly behaviour: BehaviourName;
}

/** The generated tokens of a database. */
export function tokenTable(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO token (tokenId, merchantId, behaviour, cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear)
     VALUES (:tokenId, :merchantId, :behaviour, :cardBrand, :cardLast4, :cardExpiryMonth, :cardExpiryYear)`,
  );
  const find = database.prepare('SELECT * FROM token WHERE tokenId = ? AND merchantId = ?');
  return {
    insert: (token: Token) => void insert.run({ ...token }),
    find: (tokenId: string, merchantId: string) => find.get(tokenId, merchantId) as unknown as Token | undefined,
  };
}
