import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { EventMessage } from '../event-reporter.ts';
import type { Query, Statement } from './database.ts';
import type { Intent, State } from './entries.ts';

/** Money that left a capture otherwise than by a refund of core's: a dispute, or a refund made at the processor. */
export interface Reversal {
  /** The processor's reference of the dispute or refund. */
  readonly reversalId: string;
  readonly authorizationRequestId: string;
  /** Null when it is not known which capture it took back. */
  readonly captureRequestId: string | null;
  /** Minor units. */
  readonly amount: bigint;
  /** Odd: taken; even: given again. */
  readonly turn: number;
}

/** The table of reversals of a ledger in a schema. */
export function reversalTable(schema: string): string {
  return `
-- Money that left otherwise than by a refund of ours. An odd turn took the amount, an even one gave it again.
CREATE TABLE ${schema}.reversal (
  reversal_id text PRIMARY KEY,
  authorization_request_id uuid NOT NULL,
  capture_request_id uuid,
  amount bigint NOT NULL CHECK (amount > 0),
  turn integer NOT NULL
);
CREATE INDEX reversal_of_authorization ON ${schema}.reversal (authorization_request_id);
`;
}

/** The reversals of a ledger: `list` those of an authorization; `store` one, or its next turn. */
export function openReversals(schema: string) {
  const list: Statement = {
    name: 'reversals_of_authorization',
    text: `SELECT reversal_id AS "reversalId", authorization_request_id AS "authorizationRequestId",
        capture_request_id AS "captureRequestId", amount, turn
      FROM ${schema}.reversal WHERE authorization_request_id = $1`,
  };
  const store: Statement = {
    name: 'store_reversal',
    text: `INSERT INTO ${schema}.reversal (reversal_id, authorization_request_id, capture_request_id, amount, turn)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (reversal_id) DO UPDATE SET turn = excluded.turn, amount = excluded.amount`,
  };
  return {
    list: (query: Query, authorizationRequestId: string) => query<Reversal>(list, [authorizationRequestId]),
    async store(query: Query, reversal: Reversal): Promise<void> {
      const { reversalId, authorizationRequestId, captureRequestId, amount, turn } = reversal;
      await query(store, [reversalId, authorizationRequestId, captureRequestId, amount, turn]);
    },
  };
}

/**
 * What was taken first: from the capture when there is only one, else it is not known from which. Never more than is
 * left; undefined when nothing is. `amount` undefined = all that is left.
 */
export function firstTurn(
  authorization: Pick<Intent & State, 'requestId' | 'captured' | 'refunded' | 'reversed'>,
  entries: readonly (Intent & State)[],
  reversalId: string,
  amount?: bigint,
): Reversal | undefined {
  const captures = entries.filter(({ kind, answer }) => kind === 'capture' && answer === Answer.APPROVED);
  const capture = captures.length === 1 ? captures[0] : undefined;
  const { requestId: authorizationRequestId, captured, refunded, reversed } = authorization;
  const left = capture ? capture.amount - capture.refunded - capture.reversed : captured - refunded - reversed;
  const taken = amount === undefined || amount > left ? left : amount;
  const captureRequestId = capture?.requestId ?? null;
  return taken > 0n ? { reversalId, authorizationRequestId, captureRequestId, amount: taken, turn: 1 } : undefined;
}

/** The event that reports a turn of a reversal to core. */
export function reversalEvent(reversal: Reversal): {
  readonly eventId: string;
  readonly event: NonNullable<EventMessage['event']>;
} {
  const { reversalId: reference, authorizationRequestId, captureRequestId, amount, turn } = reversal;
  const about = captureRequestId === null ? { authorizationRequestId } : { captureRequestId };
  const value = { ...about, amount, reference };
  const eventId = (number: number) => `${reference}-${number}`;
  const event =
    turn % 2 === 1
      ? ({ case: 'captureReversed', value } as const)
      : ({ case: 'captureReinstated', value: { ...value, reversalEventId: eventId(turn - 1) } } as const);
  return { eventId: eventId(turn), event };
}
