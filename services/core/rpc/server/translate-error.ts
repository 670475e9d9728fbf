import { Code, ConnectError } from '@connectrpc/connect';
import { NotSent, ResultLost } from '../../../../platform/gather.ts';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../../../proto/gen/google/rpc/error_details_pb.js';
import { HoldfastError, type RefusalCode } from '../../domain/refusal.ts';
import { isDatabaseAway } from '../../storage/database-errors.ts';
import { outcomeUnknown } from '../refuse.ts';

/** The status of each refusal (docs/interfaces.md, "Refusals"). Core never returns the codes that only REST has. */
const STATUS: Readonly<Record<RefusalCode, Code>> = {
  INVALID_REQUEST: Code.InvalidArgument,
  TOKEN_INVALID: Code.InvalidArgument,
  TIME_OUT_OF_RANGE: Code.InvalidArgument,
  AMOUNT_EXCEEDS_HOLD: Code.OutOfRange,
  AMOUNT_EXCEEDS_CAPTURE: Code.OutOfRange,
  AMOUNT_TOO_LARGE: Code.OutOfRange,
  UNAUTHENTICATED: Code.Unauthenticated,
  SIGNATURE_REQUIRED: Code.Unauthenticated,
  FORBIDDEN: Code.PermissionDenied,
  OCT_NOT_ALLOWED: Code.PermissionDenied,
  CARD_DECLINED: Code.FailedPrecondition,
  PREAUTHORIZATION_NOT_FOUND: Code.NotFound,
  CAPTURE_NOT_FOUND: Code.NotFound,
  OPERATION_NOT_FOUND: Code.NotFound,
  HOLD_EXPIRED: Code.FailedPrecondition,
  HOLD_RELEASED: Code.FailedPrecondition,
  HOLD_CAPTURED: Code.FailedPrecondition,
  HOLD_NOT_PLACED: Code.FailedPrecondition,
  MULTIPLE_CAPTURES_NOT_ALLOWED: Code.FailedPrecondition,
  CAPTURE_IN_FLIGHT: Code.FailedPrecondition,
  CAPTURE_NOT_SETTLED: Code.FailedPrecondition,
  HOLD_FROZEN: Code.FailedPrecondition,
  OPERATION_NOT_FINAL: Code.FailedPrecondition,
  OUTCOME_UNCHANGED: Code.FailedPrecondition,
  NOT_CORRECTABLE: Code.FailedPrecondition,
  NOT_SUPPORTED: Code.FailedPrecondition,
  LIMIT_EXCEEDED: Code.FailedPrecondition,
  IDEMPOTENCY_IN_FLIGHT: Code.Aborted,
  IDEMPOTENCY_KEY_REUSED: Code.InvalidArgument,
  STREAM_TOKEN_TOO_OLD: Code.OutOfRange,
  PAYLOAD_TOO_LARGE: Code.ResourceExhausted,
  UNSUPPORTED_MEDIA_TYPE: Code.InvalidArgument,
  RATE_LIMITED: Code.ResourceExhausted,
  PROCESSOR_ERROR: Code.Aborted,
  UNAVAILABLE: Code.Unavailable,
  RECONCILING: Code.Unavailable,
  PRECONDITION_FAILED: Code.Aborted,
  OUTCOME_UNKNOWN: Code.Unknown,
};

/** Translates an error of a handler to a status with its details, for both servers. */
export function translateError(error: unknown): ConnectError {
  if (error instanceof HoldfastError) return refusal(error);
  if (error instanceof ConnectError) return error;
  if (error instanceof NotSent) return refusal(notSent(error));
  if (error instanceof ResultLost) return refusal(outcomeUnknown(error));
  if (isDatabaseAway(error)) {
    return refusal(
      new HoldfastError('UNAVAILABLE', 'the database is away; try again', { retryAfterS: 1, cause: error }),
    );
  }
  return new ConnectError('internal error', Code.Internal, undefined, undefined, error);
}

/** Nothing of the call was or will be stored. */
function notSent(error: NotSent): HoldfastError {
  const details = { retryAfterS: 1, cause: error };
  if (error.reason === 'FULL') return new HoldfastError('RATE_LIMITED', 'too many such calls wait; try again', details);
  return new HoldfastError('UNAVAILABLE', 'the call waited too long; nothing was stored', details);
}

function refusal(error: HoldfastError): ConnectError {
  const { requestId, replayed, retryAfterS, violations, processorCode, processorMessage } = error.details;
  const told = {
    requestId,
    processorCode,
    processorMessage,
    currency: error.details.currency,
    frozenBecause: error.details.frozenBecause,
    amountRemaining: error.details.amountRemaining?.toString(),
    limit: error.details.limit?.toString(),
    resetsAt: error.details.resetsAt?.toISOString(),
    replayed: replayed ? 'true' : undefined,
  };
  const isTold = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined;
  const metadata = Object.fromEntries(Object.entries(told).filter(isTold));
  const details: ConstructorParameters<typeof ConnectError>[3] = [
    { desc: ErrorInfoSchema, value: { reason: error.code, domain: 'holdfast', metadata } },
  ];
  if (violations) details.push({ desc: BadRequestSchema, value: { fieldViolations: [...violations] } });
  if (retryAfterS !== undefined) {
    details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(retryAfterS) } } });
  }
  return new ConnectError(error.message, STATUS[error.code], undefined, details, error);
}
