/** Faults of a request: `before` or `after` it acted. */
export type Fault =
  /** Rejected. */
  | 'rate limit'
  | 'lock timeout'
  /** Stripe's own error; it is stored under the key. */
  | 'error before'
  | 'error after'
  /** The connection is closed without an answer. */
  | 'cut before'
  | 'cut after'
  /** The answer takes long. */
  | 'hang after';

/** A planned fault. */
export interface PlannedFault {
  /** Matches a part of the request, such as `POST /v1/payment_intents/…/capture`. */
  readonly on: string;
  readonly fault: Fault;
  /** How often it happens. */
  times: number;
}

/** Takes the planned fault of a request, if any. */
export function takeFault(planned: readonly PlannedFault[], request: string): Fault | undefined {
  const found = planned.find(({ on, times }) => times > 0 && matches(request, on));
  if (!found) return undefined;
  found.times -= 1;
  return found.fault;
}

/** `…` matches one part of a path. */
function matches(request: string, on: string): boolean {
  const pattern = on.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^/]+');
  return new RegExp(`^${pattern}$`).test(request);
}
