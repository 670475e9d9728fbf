/** How an attempt ended, as far as the next one depends on it. */
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
 * When the next attempt is due: about 2 s, 10 s, 1 min, 5 min, 30 min, 2 h, 6 h, 12 h and 24 h after the one before, spread by a tenth,
 * so that what failed together is not repeated together. Undefined = that was the last one. An endpoint that answers 429 or 503
 * with Retry-After is left alone at least that long, up to 6 h. `random` is in [0, 1).
 */
export function nextAttemptAt(end: AttemptEnd, random: number): Date | undefined {
  const planned = RETRY_DELAYS_MS[end.tries - 1];
  if (planned === undefined) return undefined;
  const spread = planned * (0.9 + 0.2 * random);
  return new Date(end.endedAt.getTime() + Math.round(Math.max(spread, wishedMs(end))));
}

/** Attempts that are made before a delivery is dead. */
export const MAX_TRIES = 10;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const RETRY_DELAYS_MS = [
  2 * SECOND_MS,
  10 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
];
const MAX_WISHED_MS = 6 * HOUR_MS;

/**
 * Retry-After is a number of seconds or an HTTP date (RFC 9110, section 10.2.3); anything else is ignored. A number of whatever length
 * is a number: what is more than we wait counts as that.
 */
function wishedMs({ httpStatus, retryAfter, endedAt }: AttemptEnd): number {
  if ((httpStatus !== 429 && httpStatus !== 503) || retryAfter === undefined) return 0;
  const text = retryAfter.trim();
  const wished = /^\d+$/.test(text) ? Number(text) * SECOND_MS : httpDateMs(text) - endedAt.getTime();
  return Number.isNaN(wished) ? 0 : Math.min(Math.max(wished, 0), MAX_WISHED_MS);
}

/**
 * All three forms of an HTTP date start with the day's name; the one of C's asctime names no zone and is UTC, too. Other things that
 * Date.parse takes are not dates here.
 */
function httpDateMs(text: string): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  return Date.parse(/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d /.test(text) ? `${text} GMT` : text);
}
