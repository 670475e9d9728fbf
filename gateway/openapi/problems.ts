/** Refusals in the document: one schema, and one example per code. */
import { z } from 'zod';
import { FrozenBecauseSchema } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { Problem, type ProblemDetails } from '../http/problem.ts';
import { PROBLEM_CODES, type ProblemCode } from '../http/refusals.ts';
import { CHANGE_NOT_KNOWN } from '../resource/change.ts';
import { words } from '../resource/contract-field.ts';

/** A refusal's body (RFC 9457). */
export const ProblemAnswer = z
  .object({
    type: z.string().describe('Where this gateway explains it: /docs/refusals# and the code'),
    title: z.string().describe('What the code means'),
    status: z.int().min(400).max(599).describe('The HTTP status'),
    detail: z.string().describe('What is wrong with this request; it quotes no value'),
    code: z.enum(PROBLEM_CODES).describe('Which refusal it is, for programs'),
    requestId: z
      .uuid()
      .describe(
        'The operation that the refused request created, when it created one. IDEMPOTENCY_IN_FLIGHT: the operation ' +
          'of the first request, once it is known to be stored. INTERNAL: ask for it as after 202',
      )
      .optional(),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .describe('Each field at fault')
      .optional(),
    processorCode: z.string().describe("The processor's code").optional(),
    processorMessage: z.string().describe("The processor's words, for people").optional(),
    amountRemaining: z
      .int()
      .min(0)
      .describe(
        'AMOUNT_EXCEEDS_HOLD: what remains of the hold; AMOUNT_EXCEEDS_CAPTURE: what is left of the capture. Minor ' +
          'units',
      )
      .optional(),
    frozenBecause: words(FrozenBecauseSchema)
      .describe(
        'HOLD_FROZEN: why. UNKNOWN_CHARGE: something of the hold may have been charged that it does not show, so ' +
          'nothing of it is known to be given back',
      )
      .optional(),
    limit: z.int().min(1).describe('LIMIT_EXCEEDED: the limit, in minor units').optional(),
    resetsAt: z.iso
      .datetime()
      .describe('LIMIT_EXCEEDED: when the day of the limit ends; absent when the amount never fits')
      .optional(),
  })
  .meta({ id: 'Problem', description: 'A refusal (RFC 9457)' });

const REQUEST_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0b01';

/** Details in the examples of some codes. */
const DETAILS: Readonly<Partial<Record<ProblemCode, ProblemDetails>>> = {
  INVALID_REQUEST: {
    detail: 'The body is not valid.',
    errors: [{ field: 'amount', message: 'must be a whole number of minor units: 10.50 EUR is 1050' }],
  },
  TIME_OUT_OF_RANGE: {
    detail: 'A time is past, or after the end of the hold: captureAt.',
    errors: [{ field: 'captureAt', message: 'must be in the future' }],
  },
  AMOUNT_EXCEEDS_HOLD: {
    detail: 'The amount to capture is more than what remains of the hold: 1000 EUR in minor units.',
    amountRemaining: 1000,
  },
  AMOUNT_EXCEEDS_CAPTURE: {
    detail: 'The amount to refund is more than what is left of the capture: 1000 EUR in minor units.',
    amountRemaining: 1000,
  },
  LIMIT_EXCEEDED: {
    detail: 'The limit of the day leaves no room for it: 100000 in minor units.',
    limit: 100_000,
    resetsAt: '2026-12-01T00:00:00.000Z',
  },
  HOLD_FROZEN: { frozenBecause: 'UNKNOWN_CHARGE' },
  NOT_FOUND: { detail: 'There is no such path. The routes are listed at /docs.' },
  METHOD_NOT_ALLOWED: { detail: 'This path takes POST. The routes are listed at /docs.' },
  UNAUTHENTICATED: {
    detail: 'Send the header `Authorization: Bearer <API key>`. A key elsewhere, in the URL or the body, is not read.',
  },
  TOKEN_INVALID: {
    requestId: REQUEST_ID,
    processorCode: 'token_invalid',
    processorMessage: 'There is no such card token.',
  },
  CARD_DECLINED: {
    requestId: REQUEST_ID,
    processorCode: 'insufficient_funds',
    processorMessage: 'The account has insufficient funds.',
  },
  PROCESSOR_ERROR: {
    requestId: REQUEST_ID,
    processorCode: 'processor_error',
    processorMessage: 'The processor could not do it.',
  },
  IDEMPOTENCY_IN_FLIGHT: { requestId: REQUEST_ID },
  OUTCOME_UNKNOWN: { detail: CHANGE_NOT_KNOWN },
  FORBIDDEN: { detail: 'merchantId is not the merchant that the API key names.' },
  SIGNATURE_REQUIRED: { detail: 'The Signature-Input header is missing.' },
};

/** The example body of each code, made by the code that makes real ones. */
export const PROBLEM_EXAMPLES = Object.fromEntries(
  PROBLEM_CODES.map((code) => [code, new Problem(code, DETAILS[code]).toJSON()]),
) as Readonly<Record<ProblemCode, Readonly<Record<string, unknown>>>>;

const RETRY_AFTER = z.int().min(1).describe('Seconds to wait');
const RATE_LIMIT = {
  'RateLimit-Limit': z
    .int()
    .describe(
      'Requests per window of the rate that was bounded here; a 429 for too many calls under way at core tells none',
    )
    .optional(),
  'RateLimit-Remaining': z.int().describe('Left in this window').optional(),
  'RateLimit-Reset': z.int().describe('Seconds until the window ends').optional(),
};

/** Headers that come with some statuses. */
export const PROBLEM_HEADERS: Readonly<Record<number, Readonly<Record<string, z.ZodType>>>> = {
  401: { 'WWW-Authenticate': z.string().describe('What is demanded').optional() },
  405: { Allow: z.string().describe('The methods that are allowed') },
  409: { 'Retry-After': RETRY_AFTER.optional() },
  429: { 'Retry-After': RETRY_AFTER, ...RATE_LIMIT },
  503: { 'Retry-After': RETRY_AFTER },
};
