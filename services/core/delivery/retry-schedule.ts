/** The end of an attempt, as the next one depends on it. */
export interface AttemptEnd {
  /** Attempts made since the delivery was created or replayed, this one included. */
  readonly tries: number;
  /** Undefined = no answer. */
  readonly httpStatus?: number | undefined;
  /** Header `Retry-After` of the answer. */
  readonly retryAfter?: string | undefined;
  readonly endedAt: Date;
}

/**
 * When the next attempt is due: about 2 s, 10 s, 1 min, 5 min, 30 min, 2 h, 6 h, 12 h and 24 h after the one before,
 * with 10 % jitter so that attempts that failed together are not repeated together. Undefined = there is no next
 * attempt. Retry-After of a 429 or 503 is respected up to 6 h. `random` is in [0, 1).
 */
export function nextAttemptAt(end: AttemptEnd, random: number): Date | undefined {
  const planned = RETRY_DELAYS_MS[end.tries - 1];
  if (planned === undefined) return undefined;
  const spread = planned * (0.9 + 0.2 * random);
  return new Date(end.endedAt.getTime() + Math.round(Math.max(spread, retryAfterMs(end))));
}

const RETRY_DELAYS_MS = [2, 10, 60, 300, 1_800, 7_200, 21_600, 43_200, 86_400].map((seconds) => seconds * 1_000);

const MAX_RETRY_AFTER_MS = 6 * 3_600_000;

/** Retry-After is a number of seconds or an HTTP date (RFC 9110, section 10.2.3). Anything else is ignored. */
function retryAfterMs({ httpStatus, retryAfter, endedAt }: AttemptEnd): number {
  if ((httpStatus !== 429 && httpStatus !== 503) || retryAfter === undefined) return 0;
  const text = retryAfter.trim();
  const delay = /^\d+$/.test(text) ? Number(text) * 1_000 : httpDateMs(text) - endedAt.getTime();
  return Number.isNaN(delay) ? 0 : Math.min(Math.max(delay, 0), MAX_RETRY_AFTER_MS);
}

/**
 * All three forms of an HTTP date start with the day's name; that of C's asctime has no zone and is UTC. Other texts
 * that Date.parse accepts are not HTTP dates.
 */
function httpDateMs(text: string): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  return Date.parse(/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d /.test(text) ? `${text} GMT` : text);
}
