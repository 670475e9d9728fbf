import { createContextKey, type Interceptor } from '@connectrpc/connect';
import type { CallerPatience } from '../../../../platform/gather.ts';
import { DEADLINE_HEADER } from '../../../../platform/grpc-client.ts';
import { invalidField, tooLate } from '../refuse.ts';

/** The caller's patience: nothing is stored after its deadline, or once it has disconnected. */
export const patienceKey = createContextKey<CallerPatience | undefined>(undefined);

/** Gives the signal of a call of gRPC that its caller has disconnected; other calls have a signal of their own. */
export const goneKey = createContextKey<(() => AbortSignal) | undefined>(undefined);

/** Sets how long the caller waits. Throws when a unary call's deadline has passed, or cannot be read. */
export const readsPatience: Interceptor = (next) => (request) => {
  const known = request.contextValues.get(patienceKey);
  const isGone = known?.isGone ?? (() => request.signal.aborted);
  const deadlineMs = Math.min(known?.deadlineMs ?? timeoutIn(request.header), absoluteIn(request.header));
  if (!request.stream && deadlineMs <= Date.now()) throw tooLate();
  request.contextValues.set(patienceKey, { deadlineMs, isGone });
  return next(request);
};

/**
 * The deadline in absolute time, which our clients send as well: a request that waited in the socket of a frozen
 * process has a timeout that has not started, but a deadline that has passed.
 */
function absoluteIn(header: Headers): number {
  const text = header.get(DEADLINE_HEADER);
  if (text === null) return Number.POSITIVE_INFINITY;
  // The caller relies on it: that nothing is stored later makes a 404 final.
  if (!/^\d{1,15}$/.test(text)) throw invalidField(DEADLINE_HEADER, 'must be whole milliseconds since 1970');
  return Number(text);
}

/** Connect's header has milliseconds, gRPC's a number with a unit. */
function timeoutIn(header: Headers): number {
  const connect = header.get('connect-timeout-ms');
  if (connect !== null && /^\d{1,10}$/.test(connect)) return Date.now() + Number(connect);
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(header.get('grpc-timeout') ?? '') ?? [];
  return digits === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(digits) * MS[unit as keyof typeof MS];
}

const MS = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
