import { createContextKey, type HandlerContext, type Interceptor } from '@connectrpc/connect';
import type { CallerPatience } from '../../../proto/gather.ts';
import { DEADLINE_HEADER } from '../../../proto/grpc.ts';
import { tooLate } from './intent.ts';

/** How long the caller of a call waits for its answer; the gRPC door sets it, for the other one the interceptor does. */
export const patienceKey = createContextKey<CallerPatience | undefined>(undefined);

/** How long the caller waits: nothing is stored for one whose deadline is over, or who is gone. */
export function patienceOf(context: HandlerContext): CallerPatience | undefined {
  return context.values.get(patienceKey);
}

/** Finds out how long the caller waits. */
export const readsPatience: Interceptor = (next) => (request) => {
  const known = request.contextValues.get(patienceKey);
  const isGone = known?.isGone ?? (() => request.signal.aborted);
  const deadlineMs = earliest(known?.deadlineMs ?? timeoutIn(request.header), absoluteIn(request.header));
  if (!request.stream && deadlineMs !== undefined && deadlineMs <= Date.now()) throw tooLate();
  request.contextValues.set(patienceKey, { deadlineMs, isGone });
  return next(request);
};

/**
 * A deadline in absolute time, which our own clients send besides: what waits in a socket while this process is frozen has a timeout
 * that has not begun, but a deadline that has passed.
 */
function absoluteIn(header: Headers): number | undefined {
  const text = header.get(DEADLINE_HEADER);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Connect's header has milliseconds, gRPC's a number with a unit. */
function timeoutIn(header: Headers): number | undefined {
  const connect = header.get('connect-timeout-ms');
  if (connect !== null && /^\d{1,10}$/.test(connect)) return Date.now() + Number(connect);
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(header.get('grpc-timeout') ?? '') ?? [];
  return digits === undefined ? undefined : Date.now() + Number(digits) * MS[unit as keyof typeof MS];
}

const MS = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
