/** Faults of a request: `before` or `after` it acted. */
export const FAULTS = [
  // Rejected before it began.
  'rate limit',
  'lock timeout',
  'key in use',
  'key rejected',
  // Stripe's own error; it is stored under the key.
  'error before',
  'error after',
  // A proxy's answer, which is not Stripe's.
  'bad gateway before',
  'bad gateway after',
  'JSON of a gateway',
  'JSON of a proxy',
  // The connection is closed without an answer, or within it.
  'cut before',
  'cut after',
  'cut in answer',
  // The answer takes long.
  'hang before',
  'hang after',
  // The connection is closed while Stripe works: key and object are in use, and it acts a moment later.
  'acts later',
] as const;
/** `no permission`: the API key may not read this. */
export type Fault = (typeof FAULTS)[number] | 'no permission';

/** A planned fault. */
export interface PlannedFault {
  /** Matches a part of the request, such as `POST /v1/payment_intents/…/capture`. */
  readonly on: string;
  readonly fault: Fault;
  /** How often it happens. */
  times: number;
  /** Only under this idempotency key. */
  readonly key?: string | undefined;
}

/** Takes the planned fault of a request, if any. */
export function takeFault(planned: readonly PlannedFault[], request: string, key: string): Fault | undefined {
  const found = planned.find(
    (fault) => fault.times > 0 && matches(request, fault.on) && (fault.key === undefined || fault.key === key),
  );
  if (!found) return undefined;
  found.times -= 1;
  return found.fault;
}

/** `…` matches one part of a path. */
function matches(request: string, on: string): boolean {
  const pattern = on.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '[^/]+');
  return new RegExp(`^${pattern}$`).test(request);
}
