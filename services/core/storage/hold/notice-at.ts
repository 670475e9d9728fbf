/** SQL of the times of a hold, the contract's hours among them. */
interface Times {
  readonly guaranteedUntil: string;
  readonly expiresAt: string;
  readonly releaseAt: string;
  readonly hours: string;
}

/** SQL: when a merchant is to be notified that a hold ends soon, or that its guarantee does; null = never. */
export function noticeAt({ guaranteedUntil, expiresAt, releaseAt, hours }: Times): string {
  return `least(${guaranteedUntil}, ${expiresAt}, ${releaseAt}) - make_interval(hours => ${hours})`;
}
