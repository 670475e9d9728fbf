import { type HoldState, judgeCapture } from '../domain/hold.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { KeyInput } from '../storage/claim-key.ts';
import type { Database } from '../storage/database.ts';
import type { HoldRow } from '../storage/hold.ts';
import { lockHoldsByIdHash } from '../storage/lock-holds.ts';
import { type CaptureInput, reserveCaptures } from '../storage/reserve-captures.ts';

/** A capture that asks for its amount. */
export interface Capturing {
  readonly requestId: string;
  readonly idHash: Buffer;
  /** Undefined = an operator's call, for any merchant. */
  readonly merchantId: string | undefined;
  /** Minor units. */
  readonly amount: bigint;
  readonly finalCapture: boolean;
  readonly key?: KeyInput | undefined;
  readonly at: Date;
  readonly inquireAt: Date;
}

/** What became of it: the amount is reserved, or it is not, and why. */
export type Reservation =
  | { readonly reserved: true; readonly hold: HoldRow }
  | { readonly reserved: false; readonly refusal: RefusalCode | 'KEY_TAKEN' };

/** Judges and reserves captures, each of another hold, in one transaction: lock, judge, write. */
export function reserveGatheredCaptures(database: Database, capturings: readonly Capturing[]): Promise<Reservation[]> {
  return database.transaction(async (query) => {
    const locked = await lockHoldsByIdHash(
      query,
      capturings.map(({ idHash }) => idHash),
    );
    const holds = new Map(locked.map((hold) => [hold.idHash.toString('hex'), hold]));
    const judged = capturings.map((capturing) => judge(capturing, holds.get(capturing.idHash.toString('hex'))));
    const admitted = judged.flatMap((reservation, index) => {
      const capturing = capturings[index];
      return reservation.reserved && capturing ? [captureInput(capturing, reservation.hold)] : [];
    });
    if (admitted.length === 0) return judged;
    const reserved = await reserveCaptures(query, admitted);
    const taken = new Set(admitted.filter((_, index) => !reserved[index]).map(({ requestId }) => requestId));
    return judged.map((reservation, index) =>
      taken.has(capturings[index]?.requestId ?? '') ? { reserved: false, refusal: 'KEY_TAKEN' } : reservation,
    );
  });
}

function judge(capturing: Capturing, hold: HoldRow | undefined): Reservation {
  if (!hold || (capturing.merchantId !== undefined && hold.merchantId !== capturing.merchantId)) {
    return { reserved: false, refusal: 'PREAUTHORIZATION_NOT_FOUND' };
  }
  const refusal = judgeCapture(hold satisfies HoldState, capturing.amount, capturing.at);
  return refusal ? { reserved: false, refusal } : { reserved: true, hold };
}

function captureInput(capturing: Capturing, hold: HoldRow): CaptureInput {
  return {
    requestId: capturing.requestId,
    holdRequestId: hold.requestId,
    merchantId: hold.merchantId,
    amount: capturing.amount.toString(),
    currency: hold.currency,
    finalCapture: capturing.finalCapture,
    closing: capturing.finalCapture || !hold.allowMultipleCaptures,
    createdAt: capturing.at.toISOString(),
    inquireAt: capturing.inquireAt.toISOString(),
    key: capturing.key,
  };
}
