/** The state of an endpoint. An endpoint that never failed has no row and counts as FRESH. */
export interface EndpointState {
  /** Why it is paused: it answered 410, an operator paused it, or the breaker opened. */
  readonly pause: 'GONE' | 'OPERATOR' | 'BREAKER' | null;
  /** When a pause of the breaker ends. An operator ends the other pauses. */
  readonly pausedUntil: Date | null;
  /** Failures since the last success. */
  readonly failureCount: number;
  /** Pauses of the breaker since the last success. */
  readonly pauseCount: number;
}

export const FRESH: EndpointState = { pause: null, pausedUntil: null, failureCount: 0, pauseCount: 0 };
