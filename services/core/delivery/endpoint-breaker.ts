import { type EndpointState, FRESH } from '../storage/endpoint/endpoint-row.ts';

/** Results of some attempts at an endpoint. */
export interface Tally {
  readonly delivered: number;
  /** Attempts without an answer, or with 429 or 5xx. */
  readonly failed: number;
  /** Attempts with another answer that is no 2xx: they may be about the one notification. */
  readonly refused: number;
  /** True when it answered 410. */
  readonly gone: boolean;
  /** The newest failure; absent = none. */
  readonly error?: string | undefined;
}

/** Returns whether this status counts as a failure of the endpoint; undefined = no answer. */
export function isFailing(httpStatus: number | undefined): boolean {
  return httpStatus === undefined || httpStatus === 429 || httpStatus >= 500;
}

/**
 * The state of an endpoint after some attempts. Ten failures in a row open the breaker: the endpoint is paused, then
 * one attempt probes it. Each failed probe doubles the pause, up to 15 minutes. Any success closes the breaker. Answers
 * that refuse a notification pause nothing, because the next one may be accepted; they are counted, so that everybody
 * sees that the endpoint does not work.
 *
 * The state is in the database because several workers share an endpoint.
 */
export function judgeEndpoint(state: EndpointState, tally: Tally, now: Date): EndpointState {
  if (state.pause === 'GONE' || state.pause === 'OPERATOR') return state;
  const lastError = tally.error ?? state.lastError;
  if (tally.gone) return { ...state, pause: 'GONE', pausedUntil: null, lastError };
  if (tally.delivered > 0) return FRESH;
  if (tally.failed + tally.refused === 0) return state;
  const failureCount = state.failureCount + tally.failed;
  const refusedCount = state.refusedCount + tally.refused;
  const counted = { ...state, failureCount, refusedCount, failingSince: state.failingSince ?? now, lastError };
  const stillPaused = state.pausedUntil !== null && state.pausedUntil > now;
  if (tally.failed === 0 || failureCount < FAILURES_TO_OPEN || stillPaused) return counted;
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(state.pauseCount, 20), MAX_PAUSE_MS);
  const pausedUntil = new Date(now.getTime() + pauseMs);
  return { ...counted, pause: 'BREAKER', pausedUntil, pauseCount: state.pauseCount + 1 };
}

const FAILURES_TO_OPEN = 10;
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 15 * 60_000;
