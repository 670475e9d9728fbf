import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { traceParent } from '../../../platform/tracing.ts';
import { amountReversedOf, reinstatable, reinstate, reverse, reversible } from '../domain/hold.ts';
import type { CaptureRow } from '../storage/capture/capture.ts';
import { listCaptures } from '../storage/capture/capture.ts';
import { bookTakenBack } from '../storage/capture/take-back.ts';
import type { Database } from '../storage/database.ts';
import { readHolds } from '../storage/hold/read-holds.ts';
import type { Books } from './books.ts';
import type { Ended } from './outcomes.ts';
import { cardOf, endedOf, resultOf } from './result.ts';

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
  /** The event that reported it, which is remembered with what it did, so that it is booked once. */
  readonly event: { readonly id: string; readonly digest: Buffer };
  readonly at: Date;
}

/** What became of it: booked, also before; or more than there is to take back or to give again. */
export type TakenBack = 'BOOKED' | 'TOO_MUCH';

/** Books a reversal or a reinstatement, once for its event. */
export async function takeBack(books: Books, taking: TakingBack): Promise<TakenBack> {
  let isTooMuch = false;
  const run = async (database: Database) => {
    const ended = await reckonAndBook(database, taking);
    isTooMuch = ended === 'TOO_MUCH';
    return ended === 'TOO_MUCH' ? NOTHING : ended;
  };
  await books.end({ key: taking.holdRequestId, run });
  return isTooMuch ? 'TOO_MUCH' : 'BOOKED';
}

const NOTHING: Ended = { changed: false, deliveries: [] };

/**
 * Reads, calculates, and writes if the hold has not changed since. It reads the hold before its captures: what changes one of them later
 * changes the hold, and then nothing is written.
 */
async function reckonAndBook({ query }: Database, taking: TakingBack): Promise<Ended | typeof AGAIN | 'TOO_MUCH'> {
  const { kind, captureRequestId, amount, reference, event, at } = taking;
  const [hold] = await readHolds(query, [taking.holdRequestId]);
  assert(hold, 'what is taken back was captured of a hold');
  const captures = await listCaptures(query, hold.requestId);
  const capture = captures.find(({ requestId }) => requestId === captureRequestId);
  const most = kind === 'REVERSAL' ? reversible(hold, capture) : reinstatable(hold, capture, captures);
  if (amount > most) return 'TOO_MUCH';
  const subject = { ...hold, amount, card: cardOf(hold), holdRequestId: hold.requestId, captureRequestId };
  const approved = { answer: 'APPROVED', reference, bankReference: '' } as const;
  const operation = resultOf(taking.requestId, kind, subject, approved, at, traceParent());
  const settled = await bookTakenBack(query, {
    requestId: taking.requestId,
    holdRequestId: hold.requestId,
    captureRequestId,
    captureReversed: capture && reversedAfter(capture, taking),
    version: hold.version,
    at: at.toISOString(),
    eventId: event.id,
    digest: event.digest.toString('hex'),
    books: kind === 'REVERSAL' ? reverse(hold, amount) : reinstate(hold, amount),
    operation,
  });
  return settled.locked.has(hold.requestId) ? endedOf(settled, operation) : AGAIN;
}

function reversedAfter(capture: CaptureRow, { kind, amount }: TakingBack): bigint {
  return amountReversedOf(capture) + (kind === 'REVERSAL' ? amount : -amount);
}
