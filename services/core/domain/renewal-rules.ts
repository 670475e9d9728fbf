import { type HoldPhase, type HoldState, type HoldStatus, isOpen } from './hold-rules.ts';
import type { RefusalCode } from './refusal.ts';

/** Judges the renewal of a hold for an amount, or for what remained of it. Returns the refusal, or undefined. */
export function judgeRenewal(hold: HoldState, token: string | null, amount: bigint): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  if (token === null) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  if (amount > 0n) return undefined;
  return hold.inFlight > 0n ? 'CAPTURE_IN_FLIGHT' : 'HOLD_CAPTURED';
}

/**
 * Judges a renewal of a hold that may have been renewed before: while that renewal has no result there is no other one,
 * and while it holds the money it is the one to renew. Returns the refusal, or undefined.
 */
export function judgeNextRenewal(before: RenewalState, now: Date): RefusalCode | undefined {
  if (before.phase === 'AUTHORIZING' || before.phase === 'UNKNOWN') return 'CAPTURE_IN_FLIGHT';
  const isOver = before.status === null || !isOpen({ status: before.status }) || (before.endsAt ?? now) < now;
  return before.phase === 'AUTHORIZED' && !isOver ? 'HOLD_RELEASED' : undefined;
}

/** The hold that renewed another one before; null = none did. */
interface RenewalState {
  readonly phase: HoldPhase | null;
  readonly status: HoldStatus | null;
  readonly endsAt: Date | null;
}
