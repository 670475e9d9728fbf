import { AGAIN, type CallerPatience } from '../../../platform/gather.ts';
import { type HoldState, isDueToEnd, judgeRelease } from '../domain/hold.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { Database } from '../storage/database.ts';
import { readHolds } from '../storage/hold/read-holds.ts';
import type { KeyInput } from '../storage/idempotency-key/idempotency-key.ts';
import { findRelease, type ReleaseRow } from '../storage/release/release.ts';
import { reserveReleases } from '../storage/release/write-releases.ts';
import type { Books } from './books.ts';
import { deadlineOf, type Reservation } from './outcomes.ts';

/** A requested release of what remains of a hold. */
export interface Releasing {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** Undefined = an operator's call, or our own. */
  readonly merchantId?: string | undefined;
  readonly reason: ReleaseRow['reason'];
  /** The processor ended the authorization by itself, and reported it: nothing is sent. */
  readonly reported?: boolean | undefined;
  /** Its identifier at the processor; absent = it follows from the key, or is the requestId. */
  readonly processorRequestId?: string | undefined;
  /** It is imported from the processor's books. */
  readonly imported?: boolean | undefined;
  readonly key?: KeyInput | undefined;
  readonly patience?: CallerPatience | undefined;
  readonly at: Date;
  readonly inquireAt: Date;
}

/** Reserves a release. An open checkout is released with amount 0. Rejects as Books says. */
export function reserveHoldRelease(books: Books, releasing: Releasing): Promise<Reservation> {
  const { holdRequestId: key, patience } = releasing;
  return books.reserve({ key, patience, run: (database) => judgeAndReserve(database, releasing) });
}

/** Reads the hold, judges, and writes if the hold has not changed since. */
async function judgeAndReserve({ query }: Database, releasing: Releasing): Promise<Reservation | typeof AGAIN> {
  const [hold] = await readHolds(query, [releasing.holdRequestId]);
  if (!hold || (releasing.merchantId !== undefined && hold.merchantId !== releasing.merchantId)) {
    return { reserved: false, refusal: 'PREAUTHORIZATION_NOT_FOUND' };
  }
  const refusal = judge(hold, releasing);
  if (refusal) {
    const known = await findRelease(query, releasing.requestId);
    if (!known) return { reserved: false, refusal, hold };
    return { reserved: false, refusal: 'REPEATED', hold, processorRequestId: known.processorRequestId ?? null };
  }
  const placed = hold.phase === 'AUTHORIZED' && releasing.reason !== 'LATE';
  const [outcome = AGAIN] = await reserveReleases(query, [
    {
      requestId: releasing.requestId,
      holdRequestId: hold.requestId,
      merchantId: hold.merchantId,
      reason: releasing.reason,
      reported: releasing.reported ?? false,
      ...(releasing.reported && {
        amountReleased: hold.endedAmount?.toString(),
        processorReference: hold.endedReference ?? undefined,
      }),
      amount: placed ? hold.remaining.toString() : '0',
      currency: hold.currency,
      processor: hold.processor,
      processorAccount: hold.processorAccount,
      processorRequestId: releasing.processorRequestId,
      imported: releasing.imported,
      createdAt: releasing.at.toISOString(),
      inquireAt: releasing.inquireAt.toISOString(),
      version: hold.version,
      closing: releasing.reason !== 'LATE',
      deadline: deadlineOf(releasing.patience),
      key: releasing.key,
    },
  ]);
  if (outcome === AGAIN) return AGAIN;
  const { processorRequestId } = outcome;
  if (outcome.outcome === 'STORED') return { reserved: true, hold, processorRequestId };
  return { reserved: false, refusal: outcome.outcome, hold, processorRequestId };
}

function judge(
  hold: HoldState & { checkoutExpiresAt?: Date | null | undefined },
  releasing: Releasing,
): RefusalCode | undefined {
  if (releasing.reason === 'LATE') return hold.phase === 'FAILED' ? undefined : 'HOLD_CAPTURED';
  if (hold.phase === 'AWAITING_CHECKOUT') {
    if (hold.closing) return 'CAPTURE_IN_FLIGHT';
    const over = hold.checkoutExpiresAt != null && hold.checkoutExpiresAt <= releasing.at;
    return releasing.reason === 'RELEASED' || over ? undefined : 'HOLD_NOT_PLACED';
  }
  const bySelf = releasing.reported || releasing.reason === 'EXPIRED';
  if (!bySelf) return judgeRelease(hold, releasing.at);
  const isReported = hold.endedAs != null;
  if (isReported !== (releasing.reported ?? false)) return 'CAPTURE_IN_FLIGHT';
  return isDueToEnd(hold, releasing.reason, releasing.at) ? undefined : 'CAPTURE_IN_FLIGHT';
}
