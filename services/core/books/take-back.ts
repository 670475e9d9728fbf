import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { traceParent } from '../../../platform/tracing.ts';
import { reinstate, reverse, reversible, takenBackOf } from '../domain/hold.ts';
import { listCaptures } from '../storage/capture/capture.ts';
import { bookTakenBack } from '../storage/capture/take-back.ts';
import type { Database } from '../storage/database.ts';
import { readHolds } from '../storage/hold/read-holds.ts';
import type { NamedEvent } from '../storage/processor-event/processor-event.ts';
import type { Books } from './books.ts';
import { cardOf, type Ended, endedOf, NOTHING_ENDED, resultOf } from './result.ts';

/** What the card scheme took back, or gave again, as the processor reported it. */
export interface TakingBack {
  /** Names the reversal or reinstatement. */
  readonly requestId: string;
  readonly kind: 'REVERSAL' | 'REINSTATEMENT';
  readonly holdRequestId: string;
  /** Undefined = the processor does not know which capture it was. */
  readonly captureRequestId?: string | undefined;
  /** Minor units. */
  readonly amount: bigint;
  /** The processor's reference of it. */
  readonly reference: string;
  /** The event that reported it, which is remembered with what it did, so that it is booked once. Absent = it is imported. */
  readonly event?: NamedEvent;
  /**
   * What is taken back of it at the processor by now, minor units: only what is missing here is booked. Undefined = all of `amount` is.
   */
  readonly there?: bigint | undefined;
  readonly at: Date;
}

/** What became of it: booked, also before; or more than there is to take back or to give again. */
export type TakenBack = 'BOOKED' | 'TOO_MUCH';

/** Books a reversal or a reinstatement, once for its event. */
export async function takeBack(books: Books, taking: TakingBack): Promise<TakenBack> {
  const traced = { ...taking, traceParent: traceParent() };
  const run = (database: Database) => reckonAndBook(database, traced);
  const { fault } = await books.end({ key: taking.holdRequestId, run });
  return fault === 'TOO_MUCH' ? 'TOO_MUCH' : 'BOOKED';
}

/**
 * Reads, calculates, and writes if the hold has not changed since. It reads the hold before its captures: what changes one of them later
 * changes the hold, and then nothing is written.
 */
async function reckonAndBook(
  { query }: Database,
  taking: TakingBack & { readonly traceParent: string | undefined },
): Promise<Ended | typeof AGAIN> {
  const { kind, captureRequestId, reference, event, at, traceParent } = taking;
  const [hold] = await readHolds(query, [taking.holdRequestId]);
  assert(hold, 'what is taken back was captured of a hold');
  const captures = await listCaptures(query, hold.requestId);
  const capture = captures.find(({ requestId }) => requestId === captureRequestId);
  const here = takenBackOf(hold, capture, captures);
  const amount = missing(taking, here);
  if (amount <= 0n) return NOTHING_ENDED;
  if (amount > (kind === 'REVERSAL' ? reversible(hold, capture) : here)) {
    return { ...NOTHING_ENDED, fault: 'TOO_MUCH' };
  }
  const subject = { ...hold, amount, card: cardOf(hold), holdRequestId: hold.requestId, captureRequestId };
  const outcome = { answer: 'APPROVED', reference, bankReference: '' } as const;
  const operation = resultOf(taking.requestId, kind, subject, { outcome, at, traceParent });
  const settled = await bookTakenBack(query, {
    requestId: taking.requestId,
    holdRequestId: hold.requestId,
    captureRequestId,
    captureReversed: capture && (kind === 'REVERSAL' ? here + amount : here - amount),
    version: hold.version,
    at: at.toISOString(),
    eventId: event?.id,
    eventProcessor: event?.processor,
    digest: event?.digest.toString('hex'),
    books: kind === 'REVERSAL' ? reverse(hold, amount) : reinstate(hold, amount),
    operation,
  });
  return settled.locked.has(hold.requestId) ? endedOf(settled, operation) : AGAIN;
}

/** How much of what was reported is not booked yet, given what is taken back `here`. */
function missing({ kind, amount, there }: TakingBack, here: bigint): bigint {
  if (there === undefined) return amount;
  const difference = kind === 'REVERSAL' ? there - here : here - there;
  return difference < amount ? difference : amount;
}
