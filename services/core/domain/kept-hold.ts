/**
 * A kept hold renews itself: before its guarantee ends, what remains is authorized anew, and then the authorization
 * before is given back. A renewal delays nothing else: when anything of the hold changed meanwhile, the new authorization
 * is given back instead, and another one is asked for.
 */
import { endOf, type HoldState, isOpen } from './hold-rules.ts';
import { type FinalOutcome, isOk } from './outcome.ts';
import type { RefusalCode } from './refusal.ts';

/** A hold, as far as renewals depend on it. */
export interface KeptHold extends HoldState {
  readonly requestId: string;
  readonly tokenId?: string | null | undefined;
  readonly keepUntil?: Date | null | undefined;
  readonly renewAt?: Date | null | undefined;
  /** The renewal without a result; absent = none. */
  readonly renewalId?: string | null | undefined;
  /** The renewal whose authorization is the hold's now; absent = its own placing. */
  readonly authorizationId?: string | null | undefined;
  /** The authorization that is to be given back, and whose void is not stored yet. */
  readonly toVoid?: string | null | undefined;
}

/** The name of a hold's present authorization: its own requestId, or that of its last renewal. */
export function authorizationOf({ requestId, authorizationId }: Pick<KeptHold, 'requestId' | 'authorizationId'>) {
  return authorizationId ?? requestId;
}

/** The merchant's times: until when a hold is needed. */
type Needed = Pick<KeptHold, 'keepUntil' | 'captureAt' | 'releaseAt'>;

/** Until when a hold is to renew itself, in milliseconds; undefined = it is not kept. */
function neededUntilMs({ keepUntil, captureAt, releaseAt }: Needed): number | undefined {
  if (keepUntil == null) return undefined;
  return Math.min(...[keepUntil, captureAt, releaseAt].flatMap((time) => time?.getTime() ?? []));
}

const DAY_MS = 24 * 3_600_000;

/** A renewal that was asked for. */
export interface AskedRenewal {
  /** Minor units. */
  readonly amount: bigint;
  readonly createdAt: Date;
}

/**
 * When a hold renews itself again after a renewal that did not become its authorization, or whose authorization was over
 * before it was asked for: soon when it never arrived, else a day later, as a processor hardly answers otherwise before.
 * Null = never, as it is not needed then; undefined = as its times say. `goodUntil` is of the new authorization.
 */
export function renewalAfter(
  hold: Needed,
  { amount, createdAt }: AskedRenewal,
  outcome: FinalOutcome,
  now: Date,
  goodUntil?: Date,
): Date | null | undefined {
  const isOver = goodUntil !== undefined && goodUntil <= createdAt;
  if (isOk(outcome) && (outcome.amount ?? amount) === amount && !isOver) return undefined;
  const isLost = !isOk(outcome) && outcome.code === 'never_received';
  const againMs = now.getTime() + (isLost ? 60_000 : DAY_MS);
  return againMs < (neededUntilMs(hold) ?? 0) ? new Date(againMs) : null;
}

/**
 * Judges a renewal that is due. Only a hold of which nothing is in flight renews itself, one renewal at a time. Returns
 * the refusal, or undefined.
 */
export function judgeKeeping(hold: KeptHold, now: Date): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  const ended = endOf(hold, now);
  if (ended) return ended;
  if (hold.tokenId == null) return 'NOT_SUPPORTED';
  if (hold.frozen) return 'HOLD_FROZEN';
  const isDue = hold.renewAt != null && hold.renewAt <= now;
  const isNeeded = hold.keepUntil != null && hold.keepUntil > now;
  return isDue && isNeeded && isIdle(hold) && canRenew(hold) ? undefined : 'CAPTURE_IN_FLIGHT';
}

/** Judges a renewal that the processor has done already. Returns the refusal, or undefined. */
export function judgeImportedRenewal(hold: KeptHold): RefusalCode | undefined {
  if (hold.phase !== 'AUTHORIZED') return 'HOLD_NOT_PLACED';
  return canRenew(hold) ? undefined : 'CAPTURE_IN_FLIGHT';
}

/** The one before is decided, and what it left to give back is on its way. */
function canRenew({ renewalId, toVoid }: KeptHold): boolean {
  return renewalId == null && toVoid == null;
}

function isIdle({ inFlight, closing, changing, remaining }: KeptHold): boolean {
  return inFlight === 0n && !closing && changing == null && remaining > 0n;
}

/** A renewal, as far as its effect depends on it. */
export interface Renewing {
  /** Minor units. */
  readonly amount: bigint;
  /** The renewal whose authorization it renews; absent = the placing of the hold. */
  readonly authorizationId?: string | null | undefined;
}

/**
 * Returns whether a new authorization becomes the hold's: it renews the present one, for exactly what remains, of which
 * nothing is in flight.
 */
export function takesOver(hold: KeptHold, { amount, authorizationId }: Renewing, outcome: FinalOutcome): boolean {
  if (!isOk(outcome) || outcome.isOvertaken || (outcome.amount ?? amount) !== amount) return false;
  if ((authorizationId ?? null) !== (hold.authorizationId ?? null)) return false;
  return isOpen(hold) && !hold.frozen && hold.endedAs == null && isIdle(hold) && hold.remaining === amount;
}

/** The end of a renewal whose hold changed meanwhile. */
export const OVERTAKEN = {
  answer: 'NOT_PERFORMED',
  code: 'overtaken',
  message: 'The hold changed while it was renewed; the new authorization is given back.',
} as const;
