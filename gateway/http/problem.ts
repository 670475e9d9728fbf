/**
 * Refusals as RFC 9457 problems with an enumerated `code`. This is the one place where an RPC status becomes an HTTP
 * answer; the codes are those of holdfast.v1.ErrorReason.
 */
import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { status as grpcStatus, type ServiceError } from '@grpc/grpc-js';
import {
  BadRequestSchema,
  type ErrorInfo,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../proto/gen/google/rpc/error_details_pb.js';
import { type Status, StatusSchema } from '../../proto/gen/google/rpc/status_pb.js';
import { type ProblemCode, REFUSALS, statusOf, typeOf } from './refusals.ts';

/** A field at fault: its REST name, and the fault, without its value. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** The optional parts of a problem. */
export interface ProblemDetails {
  readonly detail?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  /** The operation that the refused call created, when it created one. */
  readonly requestId?: string | undefined;
  readonly processorCode?: string | undefined;
  readonly processorMessage?: string | undefined;
  /** AMOUNT_EXCEEDS_HOLD: what could be captured; AMOUNT_EXCEEDS_CAPTURE: what could be refunded. Minor units. */
  readonly amountRemaining?: number | undefined;
  /** HOLD_FROZEN: why. */
  readonly frozenBecause?: string | undefined;
  /** LIMIT_EXCEEDED: the limit, minor units; and when the amount may fit again, RFC 3339. */
  readonly limit?: number | undefined;
  readonly resetsAt?: string | undefined;
  /** The answer was stored under an idempotency key. */
  readonly replayed?: boolean | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For logs only. */
  readonly cause?: unknown;
}

/** A refusal. Any code below the error handler may throw it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(code, { cause: details.cause });
    this.code = code;
    this.status = statusOf(code);
    this.details = details;
  }

  /** The body, as application/problem+json. */
  toJSON(): Record<string, unknown> {
    const { detail, errors, requestId, processorCode, processorMessage, amountRemaining, frozenBecause } = this.details;
    const { limit, resetsAt } = this.details;
    const { title } = REFUSALS[this.code];
    return {
      type: typeOf(this.code),
      title,
      status: this.status,
      detail: detail || `${title}.`,
      code: this.code,
      ...(requestId && { requestId }),
      ...(errors && { errors }),
      ...(processorCode && { processorCode }),
      ...(processorMessage && { processorMessage }),
      ...(amountRemaining !== undefined && { amountRemaining }),
      ...(frozenBecause && { frozenBecause }),
      ...(limit !== undefined && { limit }),
      ...(resetsAt && { resetsAt }),
    };
  }

  /** The headers of the answer. */
  headers(): Record<string, string> {
    const { retryAfterSeconds, replayed, headers } = this.details;
    const isTemporary = REFUSALS[this.code].repeat === 'LATER' || this.code === 'IDEMPOTENCY_IN_FLIGHT';
    const retryAfter = retryAfterSeconds ?? (isTemporary ? 1 : undefined);
    return {
      ...(retryAfter !== undefined && { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) }),
      ...(replayed && { 'Idempotency-Replayed': 'true' }),
      ...(this.code === 'UNAUTHENTICATED' && { 'WWW-Authenticate': 'Bearer realm="holdfast"' }),
      ...headers,
    };
  }
}

/** INVALID_REQUEST about a header. */
export function invalidHeader(field: string, message: string): Problem {
  return new Problem('INVALID_REQUEST', { detail: `The ${field} header is not valid.`, errors: [{ field, message }] });
}

/** Returns whether an error is a failed call of grpc-js. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && 'metadata' in error;
}

/**
 * Translates a failed RPC. Only an error with core's ErrorInfo is shown to the client; the text of any other status may
 * contain internal addresses, so it stays in `cause`.
 */
export function problemOfRpc(error: ServiceError): Problem {
  const answer = grpcStatusOf(error);
  const info = errorInfoOf(error);
  if (info === undefined || !isProblemCode(info.reason)) return problemOfBareStatus(error);
  const violations = detail(answer, BadRequestSchema)?.fieldViolations;
  const retryDelay = detail(answer, RetryInfoSchema)?.retryDelay;
  return new Problem(info.reason, {
    detail: answer && sentence(restName(answer.message)),
    errors: violations?.map(({ field, description }) => ({ field: restName(field), message: restName(description) })),
    amountRemaining: amountOf(info.metadata.amountRemaining),
    frozenBecause: info.metadata.frozenBecause,
    limit: amountOf(info.metadata.limit),
    resetsAt: info.metadata.resetsAt,
    requestId: info.metadata.requestId,
    processorCode: info.metadata.processorCode,
    processorMessage: info.metadata.processorMessage,
    replayed: info.metadata.replayed === 'true',
    retryAfterSeconds: retryDelay && Number(retryDelay.seconds) + retryDelay.nanos / 1e9,
    cause: error,
  });
}

/** Core's ErrorInfo of a refusal; undefined for an unexpected failure, or an error from elsewhere. */
export function errorInfoOf(error: ServiceError): ErrorInfo | undefined {
  const info = detail(grpcStatusOf(error), ErrorInfoSchema);
  return info?.domain === 'holdfast' ? info : undefined;
}

function problemOfBareStatus(error: ServiceError): Problem {
  return new Problem(AWAY.includes(error.code) ? 'UNAVAILABLE' : 'INTERNAL', { cause: error });
}

/**
 * No core answers, or not in time; CANCELLED is what grpc-js says when the connection breaks under a call,
 * UNIMPLEMENTED an older core while cores are upgraded.
 */
const AWAY: readonly number[] = [
  grpcStatus.UNAVAILABLE,
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.CANCELLED,
  grpcStatus.UNIMPLEMENTED,
];

function isProblemCode(reason: string): reason is ProblemCode {
  return Object.hasOwn(REFUSALS, reason);
}

function grpcStatusOf(error: ServiceError): Status | undefined {
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  return bytes instanceof Buffer ? fromBinary(StatusSchema, bytes) : undefined;
}

function detail<S extends DescMessage>(answer: Status | undefined, schema: S): MessageShape<S> | undefined {
  for (const any of answer?.details ?? []) {
    const message = anyUnpack(any, schema);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Minor units: 15 digits at most, so no digit is lost. */
function amountOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** Core's messages begin in lower case and have no full stop. */
function sentence(message: string): string {
  return message === '' ? '' : `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`;
}

/** `hold_period.seconds` → `holdPeriod.seconds`; also within a text. */
export function restName(text: string): string {
  return text.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
