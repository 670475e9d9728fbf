import assert from 'node:assert/strict';
import { AGAIN } from '../../../proto/gather.ts';
import { traceParent } from '../../../proto/tracing.ts';
import { reverseCapture as reckon } from '../domain/hold.ts';
import type { Database } from '../storage/database.ts';
import { readHolds } from '../storage/read-holds.ts';
import { reverseCapture } from '../storage/reverse-capture.ts';
import { findCapture } from '../storage/settle-captures.ts';
import type { Ended } from './books.ts';
import { cardOf, endedOf, resultOf } from './result.ts';

/** A report that the card scheme took a capture back. */
export interface Reversing {
  /** Names the reversal. */
  readonly requestId: string;
  readonly captureRequestId: string;
  /** The processor's reference of the reversal. */
  readonly reference: string;
  readonly at: Date;
}

/**
 * Books a reversal: read, reckon, and write if the hold is still as it was read. The whole capture is taken back, once. The hold is
 * read before the capture: whatever ends or reverses the capture afterwards changes the hold, and then nothing is written.
 */
export async function reverse({ query }: Database, reversing: Reversing): Promise<Ended | typeof AGAIN> {
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
