import assert from 'node:assert/strict';
import { traceParent } from '../../../proto/tracing.ts';
import { reverseCapture as reckon } from '../domain/hold.ts';
import type { Database } from '../storage/database.ts';
import { lockHolds } from '../storage/lock-holds.ts';
import { findCapture, reverseCapture } from '../storage/reverse-capture.ts';
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

/** Books a reversal, in one transaction: lock, reckon, write. The whole capture is taken back, once. */
export function reverse(database: Database, reversing: Reversing): Promise<Ended> {
  return database.transaction(async (query) => {
    const known = await findCapture(query, reversing.captureRequestId);
    assert(known, 'a capture that is reversed was stored');
    const [hold] = await lockHolds(query, [known.holdRequestId]);
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
    const operation = resultOf(reversing.requestId, 'REVERSAL', subject, approved, reversing.at, traceParent());
    const settled = await reverseCapture(query, {
      captureRequestId: capture.requestId,
      holdRequestId: hold.requestId,
      at: reversing.at.toISOString(),
      books: reckon(hold, capture.amount),
      operation: { ...operation, subjectId: capture.requestId },
    });
    return endedOf(settled, { ...operation, subjectId: capture.requestId });
  });
}
