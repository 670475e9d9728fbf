import { AGAIN, type CallerPatience } from '../../../proto/gather.ts';
import { type HoldState, isDueToExpire, judgeRelease } from '../domain/hold.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { KeyInput } from '../storage/claim-key.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold.ts';
import type { NotStored } from '../storage/known-request.ts';
import { readHolds } from '../storage/read-holds.ts';
import type { ReleaseRow } from '../storage/release.ts';
import { reserveRelease } from '../storage/reserve-release.ts';
import { findRelease } from '../storage/settle-release.ts';
import { deadlineOf } from './deadline.ts';

/** A release that asks for what remains of a hold. */
export interface Releasing {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** Undefined = an operator's call, or our own. */
  readonly merchantId?: string | undefined;
  readonly reason: ReleaseRow['reason'];
  readonly key?: KeyInput | undefined;
  readonly patience?: CallerPatience | undefined;
  readonly at: Date;
  readonly inquireAt: Date;
}

export type ReleaseReservation =
  | { readonly reserved: true; readonly hold: HoldRow }
  | { readonly reserved: false; readonly refusal: RefusalCode | NotStored; readonly hold?: HoldRow | undefined };

/**
 * Judges and reserves a release: read, judge, and write if the hold is still as it was read. An open checkout is released with
 * amount 0.
 */
export async function reserveHoldRelease(
  { query }: Database,
  releasing: Releasing,
): Promise<ReleaseReservation | typeof AGAIN> {
  const [hold] = await readHolds(query, [releasing.holdRequestId]);
  if (!hold || (releasing.merchantId !== undefined && hold.merchantId !== releasing.merchantId)) {
    return { reserved: false, refusal: 'PREAUTHORIZATION_NOT_FOUND' };
  }
  const refusal = judge(hold, releasing);
  if (refusal) {
    const isKnown = (await findRelease(query, releasing.requestId)) !== undefined;
    return { reserved: false, refusal: isKnown ? 'REPEATED' : refusal, hold };
  }
  const placed = hold.phase === 'AUTHORIZED' && releasing.reason !== 'LATE';
  const outcome = await reserveRelease(query, {
    requestId: releasing.requestId,
    holdRequestId: hold.requestId,
    merchantId: hold.merchantId,
    reason: releasing.reason,
    amount: placed ? hold.remaining.toString() : '0',
    currency: hold.currency,
    createdAt: releasing.at.toISOString(),
    inquireAt: releasing.inquireAt.toISOString(),
    version: hold.version,
    deadline: deadlineOf(releasing.patience),
    key: releasing.key,
  });
  if (outcome === 'RESERVED') return { reserved: true, hold };
  return outcome === 'AGAIN' ? AGAIN : { reserved: false, refusal: outcome, hold };
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
  if (releasing.reason === 'RELEASED') return judgeRelease(hold, releasing.at);
  return isDueToExpire(hold, releasing.at) && !hold.closing ? undefined : 'CAPTURE_IN_FLIGHT';
}
