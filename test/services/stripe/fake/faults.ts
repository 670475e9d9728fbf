/** What goes wrong with a request: `before` or `after` it acted. */
export type Fault =
  /** Not taken at all. */
  | 'rate limit'
  | 'lock timeout'
  /** Stripe's own error; it is kept under the key. */
  | 'error before'
  | 'error after'
  /** The connection is cut without an answer. */
  | 'cut before'
  | 'cut after'
  /** No answer for a long time. */
  | 'hang after';

/** What is to go wrong. */
export interface PlannedFault {
  /** Such as `POST /v1/payment_intents/…/capture`, by a part of it. */
  readonly on: string;
  readonly fault: Fault;
  /** How often. */
  times: number;
}

/** Takes the fault that is planned for a request, if any. */
export function takeFault(planned: readonly PlannedFault[], request: string): Fault | undefined {
  const found = planned.find(({ on, times }) => times > 0 && matches(request, on));
  if (!found) return undefined;
  found.times -= 1;
  return found.fault;
}

/** `…` stands for one part of a path. */
function matches(request: string, on: string): boolean {
  const pattern = on.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^/]+');
  return new RegExp(`^${pattern}$`).test(request);
}
