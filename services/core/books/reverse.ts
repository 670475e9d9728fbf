import assert from 'node:assert/strict';
import { AGAIN } from '../../../platform/gather.ts';
import { traceParent } from '../../../platform/tracing.ts';
import { reverseCapture as reckon } from '../domain/hold.ts';
import { findCapture } from '../storage/capture/find-captures.ts';
import { reverseCapture } from '../storage/capture/reverse-capture.ts';
import type { Database } from '../storage/database.ts';
import { readHolds } from '../storage/hold/read-holds.ts';
import type { Books } from './books.ts';
import type { Ended } from './outcomes.ts';
import { cardOf, endedOf, resultOf } from './result.ts';

/** A reversal that the processor reported. */
export interface Reversing {
  /** Names the reversal. */
  readonly requestId: string;
  readonly captureRequestId: string;
  /** The processor's reference of the reversal. */
  readonly reference: string;
  readonly at: Date;
}

/** Books the reversal of a whole capture. Returns false when it was booked before. */
export function reverse(books: Books, reversing: Reversing): Promise<boolean> {
  return books.end({ key: reversing.captureRequestId, run: (database) => reckonAndReverse(database, reversing) });
}

/**
 * Reads, calculates, and writes if the hold has not changed since. It reads the hold before the capture: a later end or reversal of the
 * capture changes the hold, and then nothing is written.
 */
async function reckonAndReverse({ query }: Database, reversing: Reversing): Promise<Ended | typeof AGAIN> {
  const known = await findCapture(query, reversing.captureRequestId);
  assert(known, 'a capture that is reversed was stored');
  const [hold] = await readHolds(query, [known.holdRequestId]);
  const capture = await findCapture(query, reversing.captureRequestId);
  assert(hold && capture, 'a capture has a hold');
  if (capture.state !== 'OK' || capture.reversed) return { changed: false, deliveries: [] };
  const subject = {
    ...hold,
    amount: capture.amount,
    card: cardOf(hold),
    holdRequestId: hold.requestId,
    captureRequestId: capture.requestId,
  };
  const approved = { answer: 'APPROVED', reference: reversing.reference, bankReference: '' } as const;
  const result = resultOf(reversing.requestId, 'REVERSAL', subject, approved, reversing.at, traceParent());
  const operation = { ...result, subjectId: capture.requestId };
  const settled = await reverseCapture(query, {
    captureRequestId: capture.requestId,
    holdRequestId: hold.requestId,
    version: hold.version,
    at: reversing.at.toISOString(),
    books: reckon(hold, capture.amount),
    operation,
  });
  return settled.locked.has(hold.requestId) ? endedOf(settled, operation) : AGAIN;
}
