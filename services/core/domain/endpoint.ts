/** What is remembered of an endpoint. An endpoint that never failed has no row and is like FRESH. */
export interface EndpointState {
  /** Why nothing is sent to it now: it answered 410, an operator said so, or it fails all the time. */
  readonly pause: 'GONE' | 'OPERATOR' | 'BREAKER' | null;
  /** When a pause of the breaker ends; the other pauses end by an operator's word. */
  readonly pausedUntil: Date | null;
  /** Failures since the last success. */
  readonly failureCount: number;
  /** Pauses of the breaker since the last success. */
  readonly pauseCount: number;
}

export const FRESH: EndpointState = { pause: null, pausedUntil: null, failureCount: 0, pauseCount: 0 };
