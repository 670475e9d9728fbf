import { AGAIN } from '../../../platform/gather.ts';
import { type HoldState, isDueToEnd, judgeRelease } from '../domain/hold.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import { findClaimed } from '../storage/claim/claim.ts';
import type { Database } from '../storage/database.ts';
import { readHolds } from '../storage/hold/read-holds.ts';
import type { ReleaseRow } from '../storage/release/release.ts';
import { reserveReleases } from '../storage/release/write-releases.ts';
import type { Books } from './books.ts';
import { isOwn, type Requested, type Reservation, reservationInput, reservationOf } from './reservation.ts';

/** A requested release of what remains of a hold. */
export interface Releasing extends Requested {
  readonly holdRequestId: string;
  readonly reason: ReleaseRow['reason'];
  /** The processor ended the authorization by itself, and reported it: nothing is sent. */
  readonly reported?: boolean | undefined;
}

/** Reserves a release. An open checkout is released with amount 0. Rejects as Books says. */
export function reserveHoldRelease(books: Books, releasing: Releasing): Promise<Reservation> {
  const { holdRequestId: key, patience } = releasing;
  return books.reserve({ key, patience, run: (database) => judgeAndReserve(database, releasing) });
}

/** Reads the hold, judges, and writes if the hold has not changed since. */
async function judgeAndReserve({ query }: Database, releasing: Releasing): Promise<Reservation | typeof AGAIN> {
  const { requestId, reason, reported = false } = releasing;
  const [hold] = await readHolds(query, [releasing.holdRequestId]);
  if (!isOwn(hold, releasing)) return { reserved: false, refusal: 'PREAUTHORIZATION_NOT_FOUND' };
  const refusal = judge(hold, releasing);
  if (refusal) {
    const isKnown = (await findClaimed(query, [requestId])).size > 0;
    return { reserved: false, refusal: isKnown ? 'REPEATED' : refusal, hold };
  }
  const placed = hold.phase === 'AUTHORIZED' && reason !== 'LATE';
  const input = {
    ...reservationInput(releasing, hold),
    amount: placed ? hold.remaining.toString() : '0',
    closing: reason !== 'LATE',
    reason,
    reported,
    ...(reported && {
      amountReleased: hold.endedAmount?.toString(),
      processorReference: hold.endedReference ?? undefined,
    }),
  };
  const [outcome = AGAIN] = await reserveReleases(query, [input]);
  return outcome === AGAIN ? AGAIN : reservationOf(hold, outcome);
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
