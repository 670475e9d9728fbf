/** SQL of the times of a hold: the merchant's, how long its authorization is good, and now. */
interface Times {
  readonly keepUntil: string;
  readonly captureAt: string;
  readonly releaseAt: string;
  readonly guaranteedUntil: string;
  readonly expiresAt: string;
  readonly now: string;
}

/**
 * SQL: when a kept hold renews itself next: two days before its guarantee ends, or a third of the time that is left;
 * null = never, as it is needed no longer than that.
 */
export function renewAt({ keepUntil, captureAt, releaseAt, guaranteedUntil, expiresAt, now }: Times): string {
  const until = `coalesce(${guaranteedUntil}, ${expiresAt})`;
  return `case when ${keepUntil} is not null and least(${keepUntil}, ${captureAt}, ${releaseAt}) > ${until}
        then ${until} - least(interval '2 days', greatest(${until} - ${now}, interval '0') / 3) end`;
}
