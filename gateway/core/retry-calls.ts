/** Retries calls to core when a connection breaks, and classifies the last failure. */
import { setTimeout as delay } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { type ServiceError, status } from '@grpc/grpc-js';
import type { GrpcCall, GrpcClient } from '../../platform/grpc-client.ts';
import { errorInfoOf, isServiceError } from '../http/problem.ts';

/** Nobody knows yet whether the call's operation was stored, or still will be. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
  readonly requestId: string;

  constructor(requestId: string, cause: unknown) {
    super('core did not say what became of the operation', { cause });
    this.requestId = requestId;
  }
}

type Unary = (
  request: { readonly operationRequestId?: string; readonly idempotencyKey?: string },
  call?: GrpcCall,
) => Promise<object>;

/**
 * A client that repeats safe calls within their deadline: reads, and writes that carry our requestId, which core stores
 * once. A write without a known result rejects with OutcomeUnknown. Every other rejection of a write means that nothing
 * was stored, or is the operation's own result.
 */
export function retrying<S extends DescService>(service: S, client: GrpcClient<S>, timeoutMs: number): GrpcClient<S> {
  const calls = client as unknown as Record<string, Unary>;
  const methods = service.methods.map(({ localName, methodKind, name }) => {
    const once = calls[localName] as Unary;
    if (methodKind !== 'unary') return [localName, once];
    const call: Unary = (request, options = {}) => {
      const endMs = Date.now() + (options.timeoutMs ?? timeoutMs);
      const tried = () => once(request, { ...options, timeoutMs: Math.max(1, endMs - Date.now()) });
      if (/^(Get|List|Check)[A-Z]/.test(name)) return read(tried);
      const { operationRequestId: requestId, idempotencyKey } = request;
      return requestId === undefined
        ? tried()
        : write(tried, { requestId, isKeyed: idempotencyKey !== undefined }, endMs);
    };
    return [localName, call];
  });
  return Object.fromEntries(methods) as GrpcClient<S>;
}

/** The name of a write's operation: the requestId, unless an earlier request had the same key. */
interface Named {
  readonly requestId: string;
  readonly isKeyed: boolean;
}

/** Long enough for the channel to find another core, short enough to go unnoticed. */
const FIRST_PAUSE_MS = 150;
const LONGEST_PAUSE_MS = 1_000;

async function read(tried: () => Promise<object>): Promise<object> {
  try {
    return await tried();
  } catch (error) {
    if (meaningOf(error) !== 'BROKEN' && meaningOf(error) !== 'NOT_SENT') throw error;
    await delay(FIRST_PAUSE_MS);
    return await tried();
  }
}

/**
 * After a try without an answer, the operation may be stored, now or soon: only its own result ends the retries before
 * the deadline. A refusal by another core does not mean that the first try will not be stored.
 */
async function write(tried: () => Promise<object>, named: Named, endMs: number): Promise<object> {
  let mayBeStored = false;
  for (let tries = 1; ; tries++) {
    try {
      return await tried();
    } catch (error) {
      const meaning = meaningOf(error, named);
      if (meaning === 'RESULT') throw error;
      if (meaning === 'BROKEN' || meaning === 'RUNNING' || meaning === 'OVERDUE') mayBeStored = true;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
      const isOver = meaning === 'OVERDUE' || Date.now() + pauseMs >= endMs;
      if (mayBeStored && isOver) throw new OutcomeUnknown(named.requestId, error);
      if (!mayBeStored && (meaning !== 'NOT_SENT' || tries > 1)) throw error;
      await delay(pauseMs);
    }
  }
}

/** Returns whether a failed call may have been executed, or may still be. */
export function isInDoubt(error: unknown): boolean {
  return isServiceError(error) && ['BROKEN', 'OVERDUE'].includes(meaningOf(error));
}

/**
 * NOT_SENT: no connection took it, or an older core does not know the method. BROKEN: the connection broke while it was
 * under way. OVERDUE: no answer came in time. RUNNING: an earlier try of this operation has no result yet. RESULT: the
 * operation's own result. REFUSED: core refused it and stored nothing.
 */
type Meaning = 'NOT_SENT' | 'BROKEN' | 'OVERDUE' | 'RUNNING' | 'RESULT' | 'REFUSED';

function meaningOf(error: unknown, named?: Named): Meaning {
  if (!isServiceError(error)) return 'BROKEN';
  const info = errorInfoOf(error);
  if (info) {
    if (info.reason === 'OUTCOME_UNKNOWN') return 'OVERDUE';
    const { requestId } = info.metadata;
    if (named === undefined || requestId === undefined) return 'REFUSED';
    // Of a key that another request has used, it is that one's operation.
    if (requestId !== named.requestId) return named.isKeyed ? 'RESULT' : 'REFUSED';
    return info.reason === 'IDEMPOTENCY_IN_FLIGHT' ? 'RUNNING' : 'RESULT';
  }
  if (error.code === status.DEADLINE_EXCEEDED) return 'OVERDUE';
  if (error.code === status.UNIMPLEMENTED) return 'NOT_SENT';
  if (!isAnsweredByCore(error) && BROKEN.includes(error.code)) {
    return error.details.includes('No connection established') ? 'NOT_SENT' : 'BROKEN';
  }
  // A bug in core: the operation may be stored, so the client gets the requestId.
  return named === undefined ? 'REFUSED' : 'RESULT';
}

/** Codes of grpc-js for a session or stream that ended under a call. */
const BROKEN: readonly number[] = [status.UNAVAILABLE, status.INTERNAL, status.CANCELLED, status.UNKNOWN];

function isAnsweredByCore(error: ServiceError): boolean {
  return (error.metadata?.get('grpc-status-details-bin') ?? []).length > 0;
}
