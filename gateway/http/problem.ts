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
import type { ErrorReason } from '../../proto/gen/holdfast/v1/error_pb.js';

/** Codes that only the gateway uses: they are about the HTTP exchange. */
type EdgeCode = 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'INTERNAL';

export type ProblemCode = Exclude<keyof typeof ErrorReason, 'UNSPECIFIED'> | EdgeCode;

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
  /** The answer was stored under an idempotency key. */
  readonly replayed?: boolean | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For logs only. */
  readonly cause?: unknown;
}

/** HTTP status and title of each code (docs/interfaces.md, "Refusals"). */
const PROBLEMS: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = {
  INVALID_REQUEST: [400, 'The request is not valid'],
  TOKEN_INVALID: [400, 'The card token is not valid'],
  TIME_OUT_OF_RANGE: [400, 'A time is past, or after the end of the hold'],
  AMOUNT_TOO_LARGE: [400, 'The hold would be too large'],
  AMOUNT_EXCEEDS_HOLD: [400, 'The amount is more than the hold'],
  AMOUNT_EXCEEDS_CAPTURE: [400, 'The amount is more than what is left of the capture'],
  UNAUTHENTICATED: [401, 'Valid credentials are required'],
  SIGNATURE_REQUIRED: [401, 'A valid message signature is required'],
  CARD_DECLINED: [402, 'The card was declined'],
  FORBIDDEN: [403, 'The credential does not allow this'],
  PREAUTHORIZATION_NOT_FOUND: [404, 'No such preauthorization'],
  CAPTURE_NOT_FOUND: [404, 'No such capture'],
  OPERATION_NOT_FOUND: [404, 'Nothing has this identifier'],
  NOT_FOUND: [404, 'No such resource'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed here'],
  REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
  HOLD_EXPIRED: [409, 'The hold has expired'],
  HOLD_RELEASED: [409, 'The hold was released'],
  HOLD_CAPTURED: [409, 'The hold is captured'],
  HOLD_NOT_PLACED: [409, 'The hold is not placed'],
  MULTIPLE_CAPTURES_NOT_ALLOWED: [409, 'The contract allows one capture'],
  HOLD_FROZEN: [409, 'The processor contradicted itself, and an operator decides'],
  CAPTURE_IN_FLIGHT: [409, 'Another operation of the hold has no result yet'],
  CAPTURE_NOT_SETTLED: [409, 'The capture, or a refund of it, has no result yet'],
  OPERATION_NOT_FINAL: [409, 'The operation has no result yet'],
  OUTCOME_UNCHANGED: [409, 'The operation has that outcome already'],
  NOT_CORRECTABLE: [409, 'What followed the operation is in the way'],
  NOT_SUPPORTED: [409, 'This authorization cannot do that'],
  IDEMPOTENCY_IN_FLIGHT: [409, 'The request with this key is still running'],
  STREAM_TOKEN_TOO_OLD: [410, 'The resume token is too old'],
  PRECONDITION_FAILED: [412, 'It was changed since it was read'],
  PAYLOAD_TOO_LARGE: [413, 'The body is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The body is not of an accepted type'],
  IDEMPOTENCY_KEY_REUSED: [422, 'The idempotency key was used for another request'],
  RATE_LIMITED: [429, 'Too many requests'],
  INTERNAL: [500, 'Something went wrong'],
  PROCESSOR_ERROR: [502, 'The processor did not perform the operation'],
  UNAVAILABLE: [503, 'The service is not available'],
  RECONCILING: [503, 'The service is recovering from a restore'],
  OUTCOME_UNKNOWN: [504, 'It is not known whether this was done'],
};

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

export function statusOf(code: ProblemCode): number {
  return PROBLEMS[code][0];
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
    return {
      type: `urn:holdfast:problem:${this.code}`,
      title: PROBLEMS[this.code][1],
      status: this.status,
      detail: detail || `${PROBLEMS[this.code][1]}.`,
      code: this.code,
      ...(requestId && { requestId }),
      ...(errors && { errors }),
      ...(processorCode && { processorCode }),
      ...(processorMessage && { processorMessage }),
      ...(amountRemaining !== undefined && { amountRemaining }),
      ...(frozenBecause && { frozenBecause }),
    };
  }

  /** The headers of the answer. */
  headers(): Record<string, string> {
    const { retryAfterSeconds, replayed, headers } = this.details;
    const isTemporary = ['UNAVAILABLE', 'IDEMPOTENCY_IN_FLIGHT', 'REQUEST_TIMEOUT'].includes(this.code);
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
  return Object.hasOwn(PROBLEMS, reason);
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

/** Minor units: 12 digits at most, so no digit is lost. */
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
