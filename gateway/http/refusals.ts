/**
 * The one table of refusals: what each is, and what to do about it. Problems, the OpenAPI document, /docs/refusals and
 * the table of docs/interfaces.md are made from it.
 */
import type { ErrorReason } from '../../proto/gen/holdfast/v1/error_pb.js';
import type { REPEATS } from './repeats.ts';

/** Codes that only the gateway uses: they are about the HTTP exchange. */
type EdgeCode = 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'INTERNAL';

export type ProblemCode = Exclude<keyof typeof ErrorReason, 'UNSPECIFIED'> | EdgeCode;

interface Refusal {
  /** The HTTP status. */
  readonly status: number;
  readonly title: string;
  /** When it is answered; sentences with `code` in backquotes, as in `remedy`. */
  readonly meaning: string;
  /** What whoever sent the request does now. */
  readonly remedy: string;
  readonly repeat: keyof typeof REPEATS;
}

export const REFUSALS: Readonly<Record<ProblemCode, Refusal>> = {
  INVALID_REQUEST: {
    status: 400,
    title: 'The request is not valid',
    meaning:
      'A field, parameter or header is missing, unknown, malformed or out of range, or the contract excludes it.',
    remedy: 'Correct each field that `errors` names; `detail` says the rest. No value is quoted.',
    repeat: 'CORRECTED',
  },
  TOKEN_INVALID: {
    status: 400,
    title: 'The card token is not valid',
    meaning: 'The processor does not know the card token, or takes it no longer.',
    remedy: 'Use another token, or place the hold without one: its checkout lets the customer enter a card.',
    repeat: 'NEW_KEY',
  },
  TIME_OUT_OF_RANGE: {
    status: 400,
    title: 'A time is past, or after the end of the hold',
    meaning:
      'A time is past, not before the end of the hold, or not in its order; or the one to change has fallen due.',
    remedy: 'Correct the time that `errors` names: after now, `captureAt` before `releaseAt`, both before the end.',
    repeat: 'CORRECTED',
  },
  AMOUNT_TOO_LARGE: {
    status: 400,
    title: 'The hold would be too large',
    meaning: 'With the increment, the hold would be more than 999 999 999 999 minor units.',
    remedy: 'Add less. Amounts are in minor units: 10.50 EUR is 1050.',
    repeat: 'CORRECTED',
  },
  AMOUNT_EXCEEDS_HOLD: {
    status: 400,
    title: 'The amount is more than the hold',
    meaning: 'The amount to capture or to give back is more than the hold, or than what remains of it.',
    remedy: 'Ask for at most what remains, which `amountRemaining` says. To charge more, increment the hold first.',
    repeat: 'CORRECTED',
  },
  AMOUNT_EXCEEDS_CAPTURE: {
    status: 400,
    title: 'The amount is more than what is left of the capture',
    meaning: 'The amount is more than what was captured and is neither refunded, reversed nor being refunded.',
    remedy: 'Ask for at most what is left, which `amountRemaining` says. Of a capture that is KO nothing is.',
    repeat: 'CORRECTED',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'Valid credentials are required',
    meaning: 'No credential came, or one that is not valid; of a relayed notification, its signature.',
    remedy:
      'Send `Authorization: Bearer` with a live key of this gateway. A sender of notifications checks its secret.',
    repeat: 'CORRECTED',
  },
  SIGNATURE_REQUIRED: {
    status: 401,
    title: 'A valid message signature is required',
    meaning: 'The contract wants this operation signed, and the signature is missing, too old, used before, or wrong.',
    remedy: 'Do as `detail` says (`/docs/signed-captures.md`), and sign each try anew. `captureAt` cannot be signed.',
    repeat: 'CORRECTED',
  },
  CARD_DECLINED: {
    status: 402,
    title: 'The card was declined',
    meaning: 'The issuer or the processor said no; `processorCode` and `processorMessage` say why.',
    remedy:
      'Ask for another card. After `authentication_required` ask the customer, and hold again with ' +
      '`customerPresent: true` and `returnUrl`.',
    repeat: 'NEW_KEY',
  },
  FORBIDDEN: {
    status: 403,
    title: 'The credential does not allow this',
    meaning: 'The credential is valid, but may not do this: it is about another merchant, or the key lacks the right.',
    remedy: 'Use a key that may do it, or leave `merchantId` out. A console session sends `X-CSRF-Token` with changes.',
    repeat: 'CORRECTED',
  },
  OCT_NOT_ALLOWED: {
    status: 403,
    title: 'The contract does not allow payouts',
    meaning: 'The merchant may not pay to cards: its contract has `allowOct: false`, as a new one does.',
    remedy: 'Ask the operator of the service to allow payouts. Until then refund captures instead.',
    repeat: 'WAIT',
  },
  PREAUTHORIZATION_NOT_FOUND: {
    status: 404,
    title: 'No such preauthorization',
    meaning: 'No hold of this merchant has the identifier; one of another merchant looks the same.',
    remedy:
      'Check the identifier, and whose key it is. Later than 30 s after a 202 to a call without a key: not placed.',
    repeat: 'CORRECTED',
  },
  CAPTURE_NOT_FOUND: {
    status: 404,
    title: 'No such capture',
    meaning: 'No capture of this merchant has the identifier; that of its hold, or of a refund, is another one.',
    remedy: 'Send the `requestId` that the capture was answered with, as `captureRequestId`.',
    repeat: 'CORRECTED',
  },
  OPERATION_NOT_FOUND: {
    status: 404,
    title: 'Nothing has this identifier',
    meaning: 'No operation, delivery or other record that this credential may see has the identifier.',
    remedy: 'Check the identifier, and whose key it is. Later than 30 s after a 202 to a call without a key: not done.',
    repeat: 'CORRECTED',
  },
  NOT_FOUND: {
    status: 404,
    title: 'No such resource',
    meaning: 'The gateway has no such path.',
    remedy: 'Check the path, with upper and lower case and without a slash at its end, against `/docs`.',
    repeat: 'CORRECTED',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The method is not allowed here',
    meaning: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods that the header `Allow` names.',
    repeat: 'CORRECTED',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request took too long to arrive',
    meaning: 'The body did not arrive in time.',
    remedy: 'If it recurs, look at the connection and at what stands between.',
    repeat: 'LATER',
  },
  HOLD_EXPIRED: {
    status: 409,
    title: 'The hold has expired',
    meaning: 'The period of the hold is over, or the issuer ended its authorization.',
    remedy: 'Place a new hold, or renew this one with `POST /preauthorization/renew`.',
    repeat: 'NEVER',
  },
  HOLD_RELEASED: {
    status: 409,
    title: 'The hold was released',
    meaning: 'What remained of the hold was given back; or it has been renewed, and the new hold is open.',
    remedy: 'Place or renew a hold, or go on with the one that renewed it.',
    repeat: 'NEVER',
  },
  HOLD_CAPTURED: {
    status: 409,
    title: 'The hold is captured',
    meaning: 'A capture has closed the hold: the final one, the only one, or nothing was left.',
    remedy: 'To charge more, place a new hold; to give something back, refund the capture.',
    repeat: 'NEVER',
  },
  HOLD_NOT_PLACED: {
    status: 409,
    title: 'The hold is not placed',
    meaning: 'The customer is still at the page, the result of placing the hold is not known yet, or it has failed.',
    remedy: 'Wait for its notification, or read the hold: after `FAILED` place a new one.',
    repeat: 'WAIT',
  },
  MULTIPLE_CAPTURES_NOT_ALLOWED: {
    status: 409,
    title: 'The contract allows one capture',
    meaning: 'The contract allows one capture of a hold, and there was one.',
    remedy: 'Place a new hold for the rest; or ask those who run Holdfast to allow several.',
    repeat: 'NEVER',
  },
  HOLD_FROZEN: {
    status: 409,
    title: 'The processor contradicted itself, and an operator decides',
    meaning: 'What the processor said about the hold does not fit the books; `frozenBecause` says how.',
    remedy: 'Wait for the operator. After `UNKNOWN_CHARGE` do not charge in another way: it may have been charged.',
    repeat: 'WAIT',
  },
  LIMIT_EXCEEDED: {
    status: 409,
    title: 'A limit of the contract is exceeded',
    meaning:
      'The amount is more than `limit`, in minor units, or than what the operations of the day leave of it: those ' +
      'that are KO do not count, those without a result do.',
    remedy: 'Ask for less, or wait until `resetsAt`; without it the amount never fits. The operator sets the limits.',
    repeat: 'WAIT',
  },
  CAPTURE_IN_FLIGHT: {
    status: 409,
    title: 'Another operation of the hold has no result yet',
    meaning: 'A capture, release, increment, extension or renewal of the hold has no result yet, or is due now.',
    remedy:
      'Wait for that result, by notification, stream or GET, then see what remains. Do not charge in another way.',
    repeat: 'WAIT',
  },
  CAPTURE_NOT_SETTLED: {
    status: 409,
    title: 'The capture, or a refund of it, has no result yet',
    meaning: 'The capture has no result yet, or the amount would fit only if a refund without a result failed.',
    remedy: 'Wait for that result, by notification, stream or GET.',
    repeat: 'WAIT',
  },
  OPERATION_NOT_FINAL: {
    status: 409,
    title: 'The operation has no result yet',
    meaning: 'Only an operation with a result can be corrected.',
    remedy: 'Wait for the result, or resolve its review.',
    repeat: 'WAIT',
  },
  OUTCOME_UNCHANGED: {
    status: 409,
    title: 'The operation has that outcome already',
    meaning: 'The correction asks for the outcome that the operation has, perhaps by an earlier correction.',
    remedy: 'Nothing is left to do; the operation shows its outcome.',
    repeat: 'NEVER',
  },
  NOT_CORRECTABLE: {
    status: 409,
    title: 'What followed the operation is in the way',
    meaning:
      'Operations of this kind are not corrected, or a later one depends on it: a refund, a reversal, a capture.',
    remedy: 'Where a later operation is wrong, too, correct that one first; else the outcome stands.',
    repeat: 'NEVER',
  },
  NOT_SUPPORTED: {
    status: 409,
    title: 'This authorization cannot do that',
    meaning: 'The processor, or the authorization of this card, has no such feature.',
    remedy: 'Do without: capture once with `finalCapture`, or place a new hold instead of changing this one.',
    repeat: 'NEVER',
  },
  IDEMPOTENCY_IN_FLIGHT: {
    status: 409,
    title: 'The request with this key is still running',
    meaning: 'The outcome of the first request with this key is not known yet; with a `requestId` it is stored.',
    remedy: 'Repeat it until it answers otherwise, and under no other key: that could charge twice.',
    repeat: 'SAME_KEY',
  },
  STREAM_TOKEN_TOO_OLD: {
    status: 410,
    title: 'The resume token is too old',
    meaning: 'Results after the token may be gone, or a restore of the database has undone its result.',
    remedy: 'List what you have missed, then open the stream without a token.',
    repeat: 'NEVER',
  },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'It was changed since it was read',
    meaning: 'Somebody else has changed it since it was read.',
    remedy: 'Read it again, and make the change to what it is now.',
    repeat: 'CORRECTED',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    meaning: 'The body is larger than this route takes.',
    remedy: 'Send less: bodies of requests have 64 KiB at most.',
    repeat: 'CORRECTED',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is not of an accepted type',
    meaning: 'The body is not JSON by its `Content-Type`, or is compressed.',
    remedy: 'Send `Content-Type: application/json` and no `Content-Encoding`.',
    repeat: 'CORRECTED',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The idempotency key was used for another request',
    meaning: 'The key belongs to a request with other fields, or to another route.',
    remedy: 'To repeat that request send its fields unchanged. Another operation needs a key of its own.',
    repeat: 'CORRECTED',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    meaning: 'The key, address or hold has more requests than its share, or its calls wait in too long a queue.',
    remedy: 'Send fewer at a time; `RateLimit-Limit` says how many, where a rate was exceeded.',
    repeat: 'LATER',
  },
  INTERNAL: {
    status: 500,
    title: 'Something went wrong',
    meaning: 'A defect of the gateway or the core: the request may have been done.',
    remedy: 'Give `X-Request-Id` to those who run Holdfast. Without a key ask for the `requestId`, where it has one.',
    repeat: 'SAME_KEY',
  },
  PROCESSOR_ERROR: {
    status: 502,
    title: 'The processor did not perform the operation',
    meaning: 'The processor could not do it, and has done nothing; `processorCode` says why.',
    remedy: 'Try again later. If it recurs, tell those who run Holdfast the `requestId`.',
    repeat: 'NEW_KEY',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'The service is not available',
    meaning: 'The core or its database is away or full, or the call came too late.',
    remedy: 'Wait; `/readyz` says when the gateway serves again.',
    repeat: 'LATER',
  },
  RECONCILING: {
    status: 503,
    title: 'The service is recovering from a restore',
    meaning: 'The database went back in time, and the key or identifier may belong to what it lost.',
    remedy: 'Wait until those who run Holdfast have reconciled it; other requests go on.',
    repeat: 'LATER',
  },
  OUTCOME_UNKNOWN: {
    status: 504,
    title: 'It is not known whether this was done',
    meaning: 'The core did not answer in time about a change that makes no operation.',
    remedy: 'Read what it was to change, such as the hold, the webhook or the secrets.',
    repeat: 'LOOK_FIRST',
  },
};

export const PROBLEM_CODES = Object.keys(REFUSALS) as ProblemCode[];

export function statusOf(code: ProblemCode): number {
  return REFUSALS[code].status;
}

/** Where the gateway explains the refusals, each under its code. */
export const REFUSALS_PATH = '/docs/refusals';

/**
 * The `type` of a problem leads to its explanation at the gateway that answered. RFC 9457, 3.1.1: a relative one
 * includes the full path. Both clients know it (`client/answer.ts`).
 */
export function typeOf(code: ProblemCode): string {
  return `${REFUSALS_PATH}#${code}`;
}
