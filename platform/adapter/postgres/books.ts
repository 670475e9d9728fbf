/** The books of a ledger: the sums of its authorizations and captures, and what core hears of what moved them. */
import type { AuthorizationEnd } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { ResultInit } from '../entry.ts';
import type { Query, Statement } from './database.ts';
import type { Intent, State } from './entries.ts';
import { eventInserter } from './outbox.ts';
import { openReversals, type Reversal, reversalEvent } from './reversals.ts';

const SUMS = ['captured', 'voided', 'incremented', 'refunded', 'reversed'] as const;

/** How sums move, minor units; and when and how (AuthorizationEnd) somebody else ended an authorization. */
type Change = Partial<Record<(typeof SUMS)[number], bigint>> & { endedAt?: Date; endedHow?: AuthorizationEnd };

/** How somebody else ended an authorization. */
interface End {
  readonly how: AuthorizationEnd;
  readonly at: Date;
  /** What was left then, minor units. */
  readonly left: bigint;
  /** Whether that is booked already, as given back by a capture. */
  readonly isBooked?: boolean;
  readonly reference: string;
}

/** The books of the ledger in a schema. All of it happens in the transaction of what is booked. */
export function openBooks(schema: string) {
  const addition: Statement = {
    name: 'add_to_entry',
    text: `UPDATE ${schema}.entry SET ${SUMS.map((sum, index) => `${sum} = ${sum} + $${index + 2}`).join(', ')},
        ended_at = coalesce($7, ended_at), ended_how = coalesce($8, ended_how)
      WHERE request_id = $1`,
  };
  const add = async (query: Query, requestId: string | null, change: Change) => {
    if (requestId === null) return;
    const sums = SUMS.map((sum) => change[sum] ?? 0n);
    await query(addition, [requestId, ...sums, change.endedAt ?? null, change.endedHow ?? null]);
  };
  const reversals = openReversals(schema);
  const tell = eventInserter(schema);

  return {
    reversalsOf: reversals.list,

    /** Books what an approved operation did to its authorization, and a refund to its capture. */
    async book(query: Query, { kind, answer, amount, released, ...about }: Intent & State): Promise<void> {
      if (answer !== Answer.APPROVED) return;
      const { authorizationRequestId, captureRequestId } = about;
      if (kind === 'capture') await add(query, authorizationRequestId, { captured: amount, voided: released });
      if (kind === 'void') await add(query, authorizationRequestId, { voided: released });
      if (kind === 'increment') await add(query, authorizationRequestId, { incremented: amount });
      if (kind !== 'refund') return;
      await add(query, authorizationRequestId, { refunded: amount });
      await add(query, captureRequestId, { refunded: amount });
    },

    /** Takes back what an approved refund booked. */
    async unbookRefund(query: Query, { amount, authorizationRequestId, captureRequestId }: Intent): Promise<void> {
      await add(query, authorizationRequestId, { refunded: -amount });
      await add(query, captureRequestId, { refunded: -amount });
    },

    /** Books a turn of a reversal, and reports it. */
    async turn(query: Query, reversal: Reversal, occurredAt: Date): Promise<void> {
      const { authorizationRequestId, captureRequestId, amount } = reversal;
      await reversals.store(query, reversal);
      const change = { reversed: reversal.turn % 2 === 1 ? amount : -amount };
      await add(query, authorizationRequestId, change);
      await add(query, captureRequestId, change);
      await tell(query, { ...reversalEvent(reversal), requestId: authorizationRequestId, occurredAt });
    },

    /** Books that somebody else ended an authorization, and reports it. */
    async end(query: Query, requestId: string, { how, at, left, isBooked = false, reference }: End): Promise<void> {
      await add(query, requestId, { voided: isBooked ? 0n : left, endedAt: at, endedHow: how });
      const event = { case: 'authorizationEnded', value: { requestId, end: how, amount: left, reference } } as const;
      await tell(query, { eventId: `ended-${requestId}`, requestId, occurredAt: at, event });
    },

    /** Reports a capture by somebody else, which is in the ledger under an identifier of its own. */
    async tellForeignCapture(query: Query, capture: Intent & State, occurredAt: Date): Promise<void> {
      const { requestId: captureRequestId, amount, reference } = capture;
      const requestId = capture.authorizationRequestId ?? '';
      const value = { authorizationRequestId: requestId, captureRequestId, amount, reference };
      const event = { case: 'foreignCapture', value } as const;
      await tell(query, { eventId: `foreign-${captureRequestId}`, requestId, occurredAt, event });
    },

    /** Reports how an operation ended. A second, contradicting end is another event. */
    async tellEnd(query: Query, entry: Intent & State, result: ResultInit): Promise<void> {
      const { requestId, kind, answer, actedAt } = entry;
      if (answer === Answer.ACCEPTED) return;
      const name = kind === 'checkout' ? ('checkoutCompleted' as const) : ('operationSettled' as const);
      const event = { case: name, value: { requestId, result } };
      const eventId = `${kind}-${requestId}-${answer}`.slice(0, 64);
      await tell(query, { eventId, requestId, occurredAt: actedAt ?? new Date(0), event });
    },
  };
}
