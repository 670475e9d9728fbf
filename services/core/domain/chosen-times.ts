/** When a hold captures what remains, and when it ends, by the merchant's choice. */
import { HoldfastError } from './refusal.ts';

/** The merchant's choice. */
export interface ChosenTimes {
  readonly captureAt?: Date | null | undefined;
  readonly releaseAt?: Date | null | undefined;
  /** Until when the hold renews itself. */
  readonly keepUntil?: Date | null | undefined;
}

/** A time that a request names: it must be in the future, and earlier than `before`, the end of the hold. */
interface NamedTime {
  readonly field: string;
  readonly at: Date | null | undefined;
  readonly before?: Date;
  /** It must not be later than this. */
  readonly latest?: Date;
}

/** The rules of the time until which a hold renews itself. */
export function keptTime(keepUntil: Date | null | undefined, now: Date): NamedTime {
  return { field: 'keep_until', at: keepUntil, latest: new Date(now.getTime() + LONGEST_KEPT_MS) };
}

const LONGEST_KEPT_MS = 90 * 24 * 3_600_000;

export const NEEDS_TOKEN = 'belongs to a hold with token_id: nobody enters a card again';

/** The rules of these times: the capture before the chosen end, both before the period's end or keepUntil. */
export function endTimes({ captureAt, releaseAt, keepUntil }: ChosenTimes, periodEnd: Date): NamedTime[] {
  const last = keepUntil && keepUntil > periodEnd ? keepUntil : periodEnd;
  const end = releaseAt && releaseAt < last ? releaseAt : last;
  return [
    { field: 'capture_at', at: captureAt, before: end },
    { field: 'release_at', at: releaseAt, before: last },
  ];
}

/** TIME_OUT_OF_RANGE when a time is past, or after the end that it must be before; it names every one. */
export function judgeTimes(times: readonly NamedTime[], now: Date): HoldfastError | undefined {
  const violations = times.flatMap(({ field, at, before, latest }) => {
    if (at == null) return [];
    if (at <= now) return [{ field, description: 'must be in the future' }];
    if (before !== undefined && at >= before)
      return [{ field, description: `must be before the end: ${before.toISOString()}` }];
    if (latest !== undefined && at > latest)
      return [{ field, description: `must not be after ${latest.toISOString()}` }];
    return [];
  });
  if (violations.length === 0) return undefined;
  const names = violations.map(({ field }) => field).join(', ');
  return new HoldfastError('TIME_OUT_OF_RANGE', `a time is past, or after the end of the hold: ${names}`, {
    violations,
  });
}

/** SIGNATURE_REQUIRED when the merchant's captures must be signed: what a hold captures by itself is not. */
export function judgeUnsignedCapture(
  { captureAt }: ChosenTimes,
  contract: { readonly requireSignedCaptures: boolean },
): HoldfastError | undefined {
  if (captureAt == null || !contract.requireSignedCaptures) return undefined;
  return new HoldfastError(
    'SIGNATURE_REQUIRED',
    'captures of this merchant must be signed, so none can be made by capture_at',
  );
}
