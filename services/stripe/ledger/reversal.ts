import type { Query, Statement } from '../../../platform/adapter/postgres/database.ts';

/** Money that left a charge otherwise than by a refund of ours. */
export interface Reversal {
  /** Stripe's id of the dispute or refund. */
  readonly reversalId: string;
  readonly authorizationRequestId: string;
  /** Null when it is not known which capture it took back. */
  readonly captureRequestId: string | null;
  /** Minor units. */
  readonly amount: bigint;
  /** Odd: taken; even: given again. */
  readonly turn: number;
}

const LIST: Statement = {
  name: 'reversals_of_authorization',
  text: `SELECT reversal_id AS "reversalId", authorization_request_id AS "authorizationRequestId",
      capture_request_id AS "captureRequestId", amount, turn
    FROM stripe.reversal WHERE authorization_request_id = $1`,
};

export function reversalsOf(query: Query, authorizationRequestId: string): Promise<Reversal[]> {
  return query<Reversal>(LIST, [authorizationRequestId]);
}

const STORE: Statement = {
  name: 'store_reversal',
  text: `INSERT INTO stripe.reversal (reversal_id, authorization_request_id, capture_request_id, amount, turn)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (reversal_id) DO UPDATE SET turn = excluded.turn, amount = excluded.amount`,
};

/** Stores a reversal, or its next turn. */
export async function storeReversal(query: Query, reversal: Reversal): Promise<void> {
  const { reversalId, authorizationRequestId, captureRequestId, amount, turn } = reversal;
  await query(STORE, [reversalId, authorizationRequestId, captureRequestId, amount, turn]);
}
