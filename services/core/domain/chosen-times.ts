/** When a hold captures what remains, and when it ends, by the merchant's choice. */
import { HoldfastError } from './refusal.ts';

/** The merchant's choice. */
export interface ChosenTimes {
  readonly captureAt?: Date | null | undefined;
  readonly releaseAt?: Date | null | undefined;
}

/** A time that a request names: it must be in the future, and earlier than `before`. */
interface NamedTime {
  readonly field: string;
  readonly at: Date | null | undefined;
  readonly before?: Date;
}

/** The rules of these times: the capture before the chosen end, both before the period's end. */
export function endTimes({ captureAt, releaseAt }: ChosenTimes, periodEnd: Date): NamedTime[] {
  const end = releaseAt && releaseAt < periodEnd ? releaseAt : periodEnd;
  return [
    { field: 'capture_at', at: captureAt, before: end },
    { field: 'release_at', at: releaseAt, before: periodEnd },
  ];
}

/** TIME_OUT_OF_RANGE when a time is past, or after the end that it must be before; it names every one. */
export function judgeTimes(times: readonly NamedTime[], now: Date): HoldfastError | undefined {
  const violations = times.flatMap(({ field, at, before }) => {
    if (at == null) return [];
    if (at <= now) return [{ field, description: 'must be in the future' }];
    if (before !== undefined && at >= before)
      return [{ field, description: `must be before the end: ${before.toISOString()}` }];
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
