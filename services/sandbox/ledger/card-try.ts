import type { DatabaseSync } from 'node:sqlite';
import type { BehaviourName } from '../behaviour.ts';
import type { KeptCard } from './entry.ts';

/** The latest card of a checkout that did not end it: declined, or waiting for the customer to confirm it at its bank. */
export interface CardTry extends KeptCard {
  readonly requestId: string;
  /** Numbers the cards of this checkout from 1, so that an answer to one challenge does not count for another. */
  readonly number: number;
  readonly state: 'challenged' | 'declined';
  readonly behaviour: BehaviourName;
  /** Why it was declined; empty while it is challenged. */
  readonly errorCode: string;
}

/** The latest cards of a database: one row for each checkout, however many cards are tried. */
export function cardTryTable(database: DatabaseSync) {
  const put = database.prepare(
    `INSERT INTO cardTry (requestId, number, state, behaviour, errorCode, cardBrand, cardLast4, cardExpiryMonth, cardExpiryYear)
     VALUES (:requestId, 1, :state, :behaviour, :errorCode, :cardBrand, :cardLast4, :cardExpiryMonth, :cardExpiryYear)
     ON CONFLICT (requestId) DO UPDATE SET
       number = cardTry.number + 1, state = excluded.state, behaviour = excluded.behaviour, errorCode = excluded.errorCode,
       cardBrand = excluded.cardBrand, cardLast4 = excluded.cardLast4,
       cardExpiryMonth = excluded.cardExpiryMonth, cardExpiryYear = excluded.cardExpiryYear`,
  );
  const find = database.prepare('SELECT * FROM cardTry WHERE requestId = ?');
  return {
    /** Replaces the checkout's latest card. */
    put: (cardTry: Omit<CardTry, 'number'>) => void put.run({ ...cardTry }),
    find: (requestId: string) => find.get(requestId) as unknown as CardTry | undefined,
  };
}
