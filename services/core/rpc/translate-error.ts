import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from '../../../proto/gen/google/rpc/error_details_pb.js';
import { HoldfastError, type RefusalCode } from '../domain/refusal.ts';

/** The status of each refusal (PRODUCT section 7). Codes that only REST has never leave core. */
const STATUS: Readonly<Record<RefusalCode, Code>> = {
  INVALID_REQUEST: Code.InvalidArgument,
  TOKEN_INVALID: Code.InvalidArgument,
  AMOUNT_EXCEEDS_HOLD: Code.OutOfRange,
  UNAUTHENTICATED: Code.Unauthenticated,
  SIGNATURE_REQUIRED: Code.Unauthenticated,
  FORBIDDEN: Code.PermissionDenied,
  CARD_DECLINED: Code.FailedPrecondition,
  PREAUTHORIZATION_NOT_FOUND: Code.NotFound,
  OPERATION_NOT_FOUND: Code.NotFound,
  HOLD_EXPIRED: Code.FailedPrecondition,
  HOLD_RELEASED: Code.FailedPrecondition,
  HOLD_CAPTURED: Code.FailedPrecondition,
  HOLD_NOT_PLACED: Code.FailedPrecondition,
  MULTIPLE_CAPTURES_NOT_ALLOWED: Code.FailedPrecondition,
  CAPTURE_IN_FLIGHT: Code.FailedPrecondition,
  IDEMPOTENCY_IN_FLIGHT: Code.Aborted,
  IDEMPOTENCY_KEY_REUSED: Code.InvalidArgument,
  STREAM_TOKEN_TOO_OLD: Code.OutOfRange,
  PAYLOAD_TOO_LARGE: Code.ResourceExhausted,
  UNSUPPORTED_MEDIA_TYPE: Code.InvalidArgument,
  RATE_LIMITED: Code.ResourceExhausted,
  PROCESSOR_ERROR: Code.Aborted,
  UNAVAILABLE: Code.Unavailable,
};

/** Translates what a handler threw to a status with its details: the one place where core's refusals become gRPC. */
export function translateError(error: unknown): ConnectError {
  if (error instanceof HoldfastError) return refusal(error);
  if (error instanceof ConnectError) return error;
  if (isDatabaseAway(error)) {
    return refusal(
      new HoldfastError('UNAVAILABLE', 'the database is away; try again', { retryAfterS: 1, cause: error }),
    );
  }
  return new ConnectError('internal error', Code.Internal, undefined, undefined, error);
}

function refusal(error: HoldfastError): ConnectError {
  const { requestId, processorCode, processorMessage, replayed, retryAfterS, violations } = error.details;
  const metadata = Object.fromEntries(
    Object.entries({ requestId, processorCode, processorMessage, replayed: replayed ? 'true' : undefined }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
  const details: { desc: typeof ErrorInfoSchema | typeof BadRequestSchema | typeof RetryInfoSchema; value: object }[] =
    [{ desc: ErrorInfoSchema, value: create(ErrorInfoSchema, { reason: error.code, domain: 'holdfast', metadata }) }];
  if (violations) {
    details.push({ desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations: [...violations] }) });
  }
  if (retryAfterS !== undefined) {
    const retryDelay = { seconds: BigInt(retryAfterS) };
    details.push({ desc: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay }) });
  }
  return new ConnectError(error.message, STATUS[error.code], undefined, details as never, error);
}

/** Whether the database could not be reached, went away, or gave up for want of time or turn: nothing is known to be wrong with the request. */
function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return (
    /^(08|57P|57014|53|55P03|25P03|40P01|40001)/.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'].includes(code) ||
    /connection terminated|connect timeout|timeout exceeded when trying to connect|cannot use a pool after|not queryable/i.test(
      error.message,
    )
  );
}
