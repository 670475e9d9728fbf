import { type HoldState, isDueToExpire, judgeRelease } from '../domain/hold.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { KeyInput } from '../storage/claim-key.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold.ts';
import { lockHolds } from '../storage/lock-holds.ts';
import type { ReleaseRow } from '../storage/release.ts';
import { reserveRelease } from '../storage/reserve-release.ts';

/** A release that asks for what remains of a hold. */
export interface Releasing {
  readonly requestId: string;
  readonly holdRequestId: string;
  /** Undefined = an operator's call, or our own. */
  readonly merchantId?: string | undefined;
  readonly reason: ReleaseRow['reason'];
  readonly key?: KeyInput | undefined;
  readonly at: Date;
  readonly inquireAt: Date;
}

export type ReleaseReservation =
  | { readonly reserved: true; readonly hold: HoldRow }
  | { readonly reserved: false; readonly refusal: RefusalCode | 'KEY_TAKEN'; readonly hold?: HoldRow | undefined };

/** Judges and reserves a release, in one transaction: lock, judge, write. An open checkout is released with amount 0. */
export function reserveHoldRelease(database: Database, releasing: Releasing): Promise<ReleaseReservation> {
  return database.transaction(async (query) => {
    const [hold] = await lockHolds(query, [releasing.holdRequestId]);
    if (!hold || (releasing.merchantId !== undefined && hold.merchantId !== releasing.merchantId)) {
      return { reserved: false, refusal: 'PREAUTHORIZATION_NOT_FOUND' };
    }
    const refusal = judge(hold, releasing);
    if (refusal) return { reserved: false, refusal, hold };
    const placed = hold.phase === 'AUTHORIZED' && releasing.reason !== 'LATE';
    const reserved = await reserveRelease(query, {
      requestId: releasing.requestId,
      holdRequestId: hold.requestId,
      merchantId: hold.merchantId,
      reason: releasing.reason,
      amount: placed ? hold.remaining.toString() : '0',
      currency: hold.currency,
      createdAt: releasing.at.toISOString(),
      inquireAt: releasing.inquireAt.toISOString(),
      key: releasing.key,
    });
    return reserved ? { reserved: true, hold } : { reserved: false, refusal: 'KEY_TAKEN', hold };
  });
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
